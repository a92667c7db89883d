"""The web classes that are written in realm/: each case is a body and what it returns."""

import pytest

pytestmark = pytest.mark.asyncio(loop_scope="module")

URLS = [
    ("return new URL('../c?x=1#h', 'https://u:p@ex.com:8080/a/b/').href;", "https://u:p@ex.com:8080/a/c?x=1#h"),
    ("const u = new URL('http://a.b/c?d=1'); return [u.origin, u.host, u.pathname, u.search, u.protocol, u.hash, u.port];",
     ["http://a.b", "a.b", "/c", "?d=1", "http:", "", ""]),
    ("const u = new URL('http://a/'); u.searchParams.append('q', 'ä b&'); u.pathname = '/x y'; return u + '';", "http://a/x%20y?q=%C3%A4+b%26"),
    ("const u = new URL('http://a/?x=1'); const p = u.searchParams; u.search = '?y=2'; return [p.get('x'), p.get('y')];", [None, "2"]),
    ("return [URL.canParse('nope'), URL.parse('nope'), URL.canParse('/x', 'http://a')];", [False, None, True]),
    ("try { new URL('nope'); } catch (e) { return [e instanceof TypeError, e.message]; }", [True, "Invalid URL"]),
    ("return JSON.stringify({ u: new URL('http://a') });", '{"u":"http://a/"}'),
    ("const p = new URLSearchParams('?a=1&b=2&a=3&c'); return [[...p], p.getAll('a'), p.has('b', '3'), p.size, p.get('c')];",
     [[["a", "1"], ["b", "2"], ["a", "3"], ["c", ""]], ["1", "3"], False, 4, ""]),
    ("const p = new URLSearchParams({ b: 1, a: '+ %' }); p.sort(); p.set('c', 'x'); p.delete('b'); return `${p}`;", "a=%2B+%25&c=x"),
    ("return [...new URLSearchParams([['k', 'v']]).keys()];", ["k"]),
]  # fmt: skip

TEXT = [
    ("return [...new TextEncoder().encode('aé😀')];", [97, 195, 169, 240, 159, 152, 128]),
    ("return new TextEncoder().encodeInto('é😀', new Uint8Array(3));", {"read": 1, "written": 2}),
    ("const d = new TextDecoder(); return d.decode(new Uint8Array([0xf0, 0x9f]), { stream: true }) + d.decode(new Uint8Array([0x98, 0x80]));", "😀"),
    ("try { new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255])); } catch (e) { return e instanceof TypeError; }", True),
    ("return [new TextDecoder('latin1').encoding, new TextDecoder('utf-16le').decode(new Uint8Array([104, 0, 105, 0]))];", ["windows-1252", "hi"]),
    ("try { new TextDecoder('nope'); } catch (e) { return e instanceof RangeError; }", True),
    ("return [btoa('hello'), btoa(''), atob('aGVsbG8='), atob(' aGVs bG8 '), atob('/+8=').length];", ["aGVsbG8=", "", "hello", "hello", 2]),
    ("try { btoa('ü€'); } catch (e) { return [e.name, e instanceof DOMException, e.code]; }", ["InvalidCharacterError", True, 5]),
    ("try { atob('a'); } catch (e) { return e.name; }", "InvalidCharacterError"),
]  # fmt: skip

CLONES = [
    ("const o = { d: new Date(5), m: new Map([[1, new Set([2])]]), a: new Uint8Array([1, 2]), r: /x/g, n: [1, , 3] }; o.self = o;"
     "const c = structuredClone(o); return [c.self === c, c.d.getTime(), c.m.get(1).has(2), [...c.a], c.r.flags, 1 in c.n, c !== o];",
     [True, 5, True, [1, 2], "g", False, True]),
    ("try { structuredClone(() => 1); } catch (e) { return [e.name, e.message]; }", ["DataCloneError", "() => 1 could not be cloned."]),
    ("const e = structuredClone(new TypeError('m')); return [e instanceof TypeError, e.message];", [True, "m"]),
]  # fmt: skip

BODIES = [
    ("const h = new Headers({ B: ' 2 ' }); h.append('a', '1'); h.append('A', '3'); return [[...h], h.get('b'), h.has('C')];",
     [[["a", "1, 3"], ["b", "2"]], "2", False]),
    ("const h = new Headers(); h.append('Set-Cookie', 'a'); h.append('set-cookie', 'b'); return [h.getSetCookie(), [...h].length];", [["a", "b"], 2]),
    ("try { new Headers({ 'a b': '1' }); } catch (e) { return e instanceof TypeError; }", True),
    ("const r = new Response('hi', { status: 201 }); return [r.status, r.ok, r.headers.get('content-type'), await r.text(), r.bodyUsed];",
     [201, True, "text/plain;charset=UTF-8", "hi", True]),
    ("const r = new Response('x'); await r.text(); try { await r.text(); } catch (e) { return e.message; }", "Body has already been consumed."),
    ("return (await Response.json({ a: [1] }).json()).a;", [1]),
    ("const r = new Response('x'); const c = r.clone(); return [await r.text(), await c.text()];", ["x", "x"]),
    ("const r = Response.redirect('http://a/b', 307); return [r.status, r.headers.get('location')];", [307, "http://a/b"]),
    ("try { new Response('x', { status: 204 }); } catch (e) { return e instanceof TypeError; }", True),
    ("try { new Response('x', { status: 99 }); } catch (e) { return e instanceof RangeError; }", True),
    ("const r = new Request('http://a/', { method: 'post', body: new URLSearchParams({ a: 'b c' }) }); return [r.method, r.headers.get('content-type'), await r.text()];",
     ["POST", "application/x-www-form-urlencoded;charset=UTF-8", "a=b+c"]),
    ("const r = new Request('http://a/x', { headers: { k: 'v' } }); const s = new Request(r, { method: 'PUT', body: 'b' }); return [s.url, s.method, s.headers.get('k'), r.body];",
     ["http://a/x", "PUT", "v", None]),
    ("try { new Request('http://a', { body: 'x' }); } catch (e) { return e.message; }", "Request with GET/HEAD method cannot have body."),
    ("const b = new Blob(['a', new Uint8Array([98]), new Blob(['c'])], { type: 'Text/Plain' }); return [b.size, b.type, await b.text(), await b.slice(1, 2).text()];",
     [3, "text/plain", "abc", "b"]),
    ("const f = new File(['x'], 'n.txt', { lastModified: 5 }); return [f.name, f.lastModified, f instanceof Blob, `${f}`];", ["n.txt", 5, True, "[object File]"]),
    ("const parts = []; for await (const chunk of new Blob(['abc']).stream()) parts.push(...chunk); return parts;", [97, 98, 99]),
]  # fmt: skip

STREAMS = [
    ("const s = new ReadableStream({ start(c) { c.enqueue(1); c.enqueue(2); c.close(); } }); const out = []; for await (const x of s) out.push(x); return out;", [1, 2]),
    ("const [a, b] = ReadableStream.from([1, 2]).tee(); const all = async (s) => { const o = []; for await (const x of s) o.push(x); return o; };"
     "return await Promise.all([all(a), all(b)]);", [[1, 2], [1, 2]]),
    ("const out = []; const double = new TransformStream({ transform: (x, c) => c.enqueue(x * 2), flush: (c) => c.enqueue('end') });"
     "for await (const x of ReadableStream.from([1, 2, 3]).pipeThrough(double)) out.push(x); return out;", [2, 4, 6, "end"]),
    ("const out = []; await ReadableStream.from(['a', 'b']).pipeTo(new WritableStream({ write: (x) => void out.push(x), close: () => void out.push('closed') })); return out;",
     ["a", "b", "closed"]),
    ("const out = []; for await (const t of ReadableStream.from(['é', '!']).pipeThrough(new TextEncoderStream()).pipeThrough(new TextDecoderStream())) out.push(t); return out.join('');", "é!"),
    ("const s = new ReadableStream({ pull() { throw new Error('bad'); } }); try { await s.getReader().read(); } catch (e) { return e.message; }", "bad"),
    ("let reason; const s = new ReadableStream({ cancel(r) { reason = r; } }); await s.cancel('why'); return [reason, (await s.getReader().read()).done];", ["why", True]),
    ("const s = new ReadableStream({ type: 'bytes', start(c) { c.enqueue(new Uint8Array([1, 2, 3])); c.close(); } });"
     "const r = s.getReader({ mode: 'byob' }); const a = await r.read(new Uint8Array(2)); const b = await r.read(new Uint8Array(2)); return [[...a.value], [...b.value]];",
     [[1, 2], [3]]),
    ("const s = new ReadableStream(); s.getReader(); try { s.getReader(); } catch (e) { return [e instanceof TypeError, s.locked]; }", [True, True]),
    ("const t = new TransformStream({ transform() {} }); const w = t.writable.getWriter(); const r = t.readable.getReader(); const p = r.read();"
     "await w.write(1); await w.write(2); await w.close(); return (await p).done;", True),
    ("const w = new WritableStream({ write() { throw new Error('sink'); } }).getWriter(); try { await w.write(1); } catch (e) { return e.message; }", "sink"),
]  # fmt: skip

EVENTS = [
    ("const t = new EventTarget(); let n = 0; t.addEventListener('x', () => n++, { once: true }); t.dispatchEvent(new Event('x')); t.dispatchEvent(new Event('x')); return n;", 1),
    ("const t = new EventTarget(); t.addEventListener('x', (e) => e.preventDefault()); return t.dispatchEvent(new Event('x', { cancelable: true }));", False),
    ("const t = new EventTarget(); let seen; t.addEventListener('x', { handleEvent(e) { seen = [e.type, e.target === t]; } }); t.dispatchEvent(new Event('x')); return seen;", ["x", True]),
    ("const c = new AbortController(); let n = 0; c.signal.onabort = () => n++; c.abort(); c.abort(); return [n, c.signal.aborted, c.signal.reason.name];", [1, True, "AbortError"]),
    ("const s = AbortSignal.abort('r'); try { s.throwIfAborted(); } catch (e) { return e; }", "r"),
    ("const c = new AbortController(); const any = AbortSignal.any([c.signal, new AbortController().signal]); c.abort(5); return any.reason;", 5),
    ("const e = new DOMException('m', 'DataCloneError'); return [e.name, e.message, e.code, e instanceof Error];", ["DataCloneError", "m", 25, True]),
]  # fmt: skip

FORM = [
    ("const f = new FormData(); f.append('a', '1'); f.append('a', '2'); f.set('b', new Blob(['x'])); return [f.getAll('a'), f.get('b').name, [...f.keys()]];",
     [["1", "2"], "blob", ["a", "a", "b"]]),
    ("const f = new FormData(); f.append('n\"q', 'line\\nbreak'); f.append('file', new File(['data'], 'x.bin', { type: 'app/x' }));"
     "const g = await new Response(f).formData(); return [g.get('n\"q'), g.get('file').name, g.get('file').type, await g.get('file').text()];",
     ["line\r\nbreak", "x.bin", "app/x", "data"]),
    ("const r = new Response('a=1&b=%20x', { headers: { 'content-type': 'application/x-www-form-urlencoded' } }); return [...await r.formData()];", [["a", "1"], ["b", " x"]]),
    ("try { await new Response('x').formData(); } catch (e) { return e.message; }", "Could not parse content as FormData."),
]  # fmt: skip


@pytest.mark.parametrize(("body", "expected"), [*URLS, *TEXT, *CLONES, *BODIES, *STREAMS, *EVENTS])
async def test_in_queries(stage, body, expected):
    assert await stage.value(body) == expected


@pytest.mark.parametrize(("body", "expected"), [*FORM, *STREAMS])
async def test_in_actions(stage, body, expected):
    assert await stage.value(body, "action") == expected
