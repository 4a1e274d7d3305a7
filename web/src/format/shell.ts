// Returns the text as one argument of a shell.
export const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;
