// Responses of the fixture server.
export type Answer = [number, unknown];

export const problem = (status: number, detail: string, hint = ''): Answer => [
  status,
  {
    type: 'about:blank',
    title: 'Refused',
    status,
    code: status === 404 ? 'not_found' : 'refused',
    detail,
    hint,
    instance: '',
  },
];
