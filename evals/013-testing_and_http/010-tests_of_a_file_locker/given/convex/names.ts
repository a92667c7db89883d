const NAME = /^[a-z0-9.-]+(\/[a-z0-9.-]+)*$/;

/** Files and folders are named in the same way. */
export function isName(text: string) {
  return NAME.test(text);
}

export function isInFolder(name: string, folder: string) {
  return name.startsWith(`${folder}/`);
}
