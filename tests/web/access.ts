// Access of the tests to their controllers: one token for all, and the cookie of a login.
import { createHmac } from 'node:crypto';

export const TEST_TOKEN = 'token-of-the-web-tests-0123456789';
export const HEADERS = { authorization: `Bearer ${TEST_TOKEN}` };

// The cookie that a login gives (controller/access/gate.cpp).
export function sessionCookie(url: string): { name: string; value: string; url: string } {
  const text = `${Date.now() + 3_600_000}.web`;
  const hash = createHmac('sha256', TEST_TOKEN).update(`session ${text}`).digest('hex');
  return { name: 'trainyard_session', value: `${text}.${hash}`, url: new URL(url).origin };
}
