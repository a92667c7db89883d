Convex.syscall
Convex
console
console.log
process
process.env
new URL('http://a')
URL.prototype.toString
new URL('http://a').searchParams
new TextEncoder().encode('x')
crypto.getRandomValues(new Uint8Array(1))
crypto.subtle
await crypto.subtle.digest('SHA-1', new Uint8Array(1))
new Response('x').headers
new Response('x').body
new Error().stack
AsyncLocalStorage.snapshot()
new AsyncLocalStorage().run
structuredClone({ a: [1] })
structuredClone([new Date()])
performance
new Blob(['x'])
await new Blob(['x']).arrayBuffer()
new AbortController().signal
Date
new Date()
Math.random
setTimeout
fetch
Error.prepareStackTrace
__convexEnter
WebAssembly.compile
Intl.DateTimeFormat().format
await Convex.asyncSyscall('1.0/nope', '{}').catch((e) => e)
(() => { try { Convex.syscall('1.0/nope', '{}'); } catch (e) { return e; } })()
await crypto.subtle.importKey('raw', new Uint8Array(3), 'AES-GCM', true, []).catch((e) => e)
