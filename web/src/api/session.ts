// The session that authenticates this page to the controller. The secret is stored per origin
// (scheme, host and port) and sent as a header. A cookie would be sent to every port of the host.
import { signal } from '@preact/signals';

export const SESSION_HEADER = 'Trainyard-Session';
const KEY = 'trainyard-session';

export interface Session {
  id: string;
  secret: string;
}

// Why the controller refuses this page access.
export interface Refusal {
  title: string;
  text: string;
}

// undefined unless a request was refused.
export const refusal = signal<Refusal | undefined>(undefined);

function parsed(text: string | null): Session | undefined {
  try {
    const { id, secret } = JSON.parse(text ?? '') as Partial<Session>;
    return id && secret ? { id, secret } : undefined;
  } catch {
    return undefined;
  }
}

// Not cached, because another tab may have logged in or out.
export function storedSession(): Session | undefined {
  return parsed(localStorage.getItem(KEY));
}

export function storeSession(session: Session): void {
  localStorage.setItem(KEY, JSON.stringify(session));
}

export function clearSession(): void {
  localStorage.removeItem(KEY);
}

export function sessionHeaders(session = storedSession()): Record<string, string> {
  return session ? { [SESSION_HEADER]: session.secret } : {};
}

// Handles a 401 response to a request sent with the session `used`. A newer session, opened by
// another tab, is kept.
export function refused(used: Session | undefined): void {
  if (storedSession()?.secret !== used?.secret) return;
  clearSession();
  refusal.value = used
    ? { title: 'Your session has ended', text: 'The session expired, or a user ended it.' }
    : { title: 'You are not logged in', text: '' };
}

// Watches for logins and logouts in other tabs of this origin. After a login, this page reloads.
// After a logout, this page loses access.
export function followOtherTabs(): void {
  addEventListener('storage', ({ key, newValue }) => {
    if (key !== null && key !== KEY) return;
    if (parsed(newValue)) {
      if (refusal.value) location.reload();
    } else if (!storedSession() && !refusal.value) {
      refusal.value = { title: 'You are logged out', text: '' };
    }
  });
}
