export const text: string = 1;
