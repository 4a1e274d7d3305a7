// Instructions for a user without access to the controller, and the logout button.
import { useEffect } from 'preact/hooks';
import { logOut } from '../api/login';
import { storedSession, type Refusal } from '../api/session';
import { CommandLine } from './copy';

export function NoAccess({ refusal }: { refusal: Refusal }) {
  useEffect(() => {
    document.title = 'Trainyard';
  }, []);
  return (
    <main id="main" class="no-access">
      <div class="card" role="alert">
        <header>
          <h1>{refusal.title}</h1>
        </header>
        <div class="no-access-text">
          {refusal.text && <p>{refusal.text}</p>}
          <p>
            Run this command on a machine that has the controller's token, then open the printed
            address:
          </p>
          <CommandLine text="trainyard dashboard" />
        </div>
      </div>
    </main>
  );
}

// Shows nothing if the controller requires no login.
export function LogOut() {
  if (!storedSession()) return null;
  return (
    <button type="button" class="quiet log-out" onClick={() => void logOut()}>
      Log out
    </button>
  );
}
