// The tests' access to their controllers, all of which use the same token.
export const TEST_TOKEN = 'token-of-the-web-tests-0123456789';
export const HEADERS = { authorization: `Bearer ${TEST_TOKEN}` };
