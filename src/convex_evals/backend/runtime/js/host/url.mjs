// URL parsing for realm/url.js. A URL travels as the JSON array of its parts.
const PARTS = [
  "href",
  "origin",
  "protocol",
  "username",
  "password",
  "host",
  "hostname",
  "port",
  "pathname",
  "search",
  "hash",
];

function parts(url) {
  return JSON.stringify(PARTS.map((part) => url[part]));
}

export function urlHost() {
  return {
    parseUrl(text, base) {
      const url = URL.parse(text, base);
      return url === null ? undefined : parts(url);
    },
    changeUrl(href, part, value) {
      const url = new URL(href);
      url[part] = value;
      return parts(url);
    },
  };
}
