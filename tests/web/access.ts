// The token of every controller in these tests.
export const TEST_TOKEN = 'token-of-the-web-tests-0123456789';
export const HEADERS = { authorization: `Bearer ${TEST_TOKEN}` };
