// Opens a WACZ with wabac.js, the reader inside replayweb.page, over HTTP with
// ranges as a browser would, and reads every page on its list. Prints how many;
// exit code 1 where one is missing.
//
//	node readwacz.mjs DIRECTORY-OF-NODE-MODULES FILE
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { pathToFileURL } from 'node:url'

const [modules, name] = process.argv.slice(2)
const require = createRequire(modules + '/')
const load = (module) => import(pathToFileURL(require.resolve(module)))

// What a service worker has and node has not.
globalThis.self = globalThis
self.registration = { scope: 'http://localhost/' }
self.location = new URL('http://localhost/sw.js')
self.addEventListener ||= () => {}

const file = readFileSync(name)
const server = createServer((req, res) => {
  const range = /bytes=(\d*)-(\d*)/.exec(req.headers.range || '')
  let from = 0, to = file.length - 1
  if (range) {
    from = range[1] ? Number(range[1]) : Math.max(0, file.length - Number(range[2]))
    if (range[1] && range[2]) to = Math.min(to, Number(range[2]))
    res.setHeader('Content-Range', `bytes ${from}-${to}/${file.length}`)
  }
  res.writeHead(range ? 206 : 200, { 'Content-Length': to - from + 1, 'Accept-Ranges': 'bytes' })
  res.end(req.method === 'HEAD' ? undefined : file.subarray(from, to + 1))
})
await new Promise((listening) => server.listen(0, '127.0.0.1', listening))

await load('fake-indexeddb/auto')
const { WorkerLoader } = await load('@webrecorder/wabac/swlib')
const url = `http://127.0.0.1:${server.address().port}/x.wacz`
const loader = new WorkerLoader({ addEventListener() {} })
await loader._init_db
const { store } = await loader.addCollection({ name: 'x', file: { sourceUrl: url, loadUrl: url } }, () => {})
const pages = await store.getAllPages()
let bytes = 0
for (const page of pages) {
  const timestamp = new Date(page.ts).toISOString().replace(/\D/g, '').slice(0, 14)
  const request = { url: page.url, timestamp, request: new Request('http://localhost/'), method: 'GET', headers: new Headers(), mode: 'cors', destination: '' }
  const found = await store.getResource(request, '', {}, { noRedirect: true })
  if (!found) throw new Error(`${page.url} at ${timestamp} is not found`)
  bytes += (await found.getBuffer())?.length || 0
}
console.log(JSON.stringify({ pages: pages.length, bytes }))
process.exit(pages.length > 0 && bytes > 0 ? 0 : 1)
