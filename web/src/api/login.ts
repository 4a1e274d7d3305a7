// Logs in and out.
import { asRequestError, endSession, exchangeCode } from './client';
import { clearSession, storeSession, refusal, storedSession } from './session';

export const LOGIN_PATH = '/login';

// Returns the login code from the fragment of the page's URL. Browsers do not send the fragment to
// the server.
export function codeIn(hash: string): string | undefined {
  return new URLSearchParams(hash.slice(1)).get('code') || undefined;
}

// Exchanges the code for a session, and ends this browser's previous session.
export async function logIn(code: string): Promise<void> {
  const old = storedSession();
  try {
    storeSession(await exchangeCode(code));
    refusal.value = undefined;
    if (old) endSession(old.id).catch(() => undefined);
  } catch (failure) {
    const { status, message } = asRequestError(failure);
    const text =
      status === 403 ? 'The code was already used or is older than 5 minutes.' : message;
    refusal.value = { title: 'Login failed', text };
  }
}

// Ends the session in this browser and, if the controller can be reached, at the controller.
export async function logOut(): Promise<void> {
  const session = storedSession();
  if (!session) return;
  const ended = await endSession(session.id).then(
    () => true,
    (failure: unknown) => [401, 404].includes(asRequestError(failure).status),
  );
  clearSession();
  refusal.value = {
    title: 'You are logged out',
    text: ended
      ? ''
      : 'This browser has deleted the session, but the controller did not respond, so it may ' +
        `still accept the session. To end it, run: trainyard server sessions --end ${session.id}`,
  };
}
