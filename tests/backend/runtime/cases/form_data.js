// Names repeat, blobs become files
const f = new FormData();
f.append("a", "1");
f.append("a", "2");
f.set("b", new Blob(["x"]));
return [f.getAll("a"), f.get("b").name, [...f.keys()]];
//=> [["1", "2"], "blob", ["a", "a", "b"]]

// Multipart both ways
const f = new FormData();
f.append('n"q', "line\nbreak");
f.append("file", new File(["data"], "x.bin", { type: "app/x" }));
const g = await new Response(f).formData();
return [g.get('n"q'), g.get("file").name, g.get("file").type, await g.get("file").text()];
//=> ["line\r\nbreak", "x.bin", "app/x", "data"]

// A form in the URL encoding
const r = new Response("a=1&b=%20x", { headers: { "content-type": "application/x-www-form-urlencoded" } });
return [...(await r.formData())];
//=> [["a", "1"], ["b", " x"]]

// A body that is no form
try {
  await new Response("x").formData();
} catch (e) {
  return e.message;
}
//=> "Could not parse content as FormData."
