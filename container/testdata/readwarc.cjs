// Reads WARC files with warcio.js, the reader of replayweb.page: every record to
// its end, lengths, and payload digests. Prints what there was; exit code 1 where
// something is wrong.
//
//	node readwarc.cjs DIRECTORY-OF-NODE-MODULES FILE...
const { createHash } = require('node:crypto')
const { createReadStream } = require('node:fs')
const { createRequire } = require('node:module')
const [modules, ...files] = process.argv.slice(2)
const { WARCParser } = createRequire(modules + '/')('warcio')

const base32 = (bytes) => {
  let bits = ''
  for (const b of bytes) bits += b.toString(2).padStart(8, '0')
  return bits.match(/.{5}/g).map((five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[parseInt(five, 2)]).join('')
}

async function main() {
  const seen = { files: files.length, records: 0, payloads: 0 }
  for (const file of files) {
    for await (const record of new WARCParser(createReadStream(file))) {
      const where = `${file}: record ${seen.records} (${record.warcType} ${record.warcTargetURI})`
      const payload = await record.readFully(true) // behind the HTTP head, where there is one
      seen.records++
      seen[record.warcType] = (seen[record.warcType] || 0) + 1
      if (!record.warcHeader('WARC-Record-ID') || !record.warcDate) throw new Error(`${where}: no ID or no date`)
      if (record.warcType !== 'response') continue
      const want = record.warcHeader('WARC-Payload-Digest')
      const got = 'sha1:' + base32(createHash('sha1').update(payload || Buffer.alloc(0)).digest())
      if (want !== got) throw new Error(`${where}: payload digest ${got}, the header says ${want}`)
      if (!record.httpHeaders) throw new Error(`${where}: no HTTP head`)
      seen.payloads++
    }
  }
  console.log(JSON.stringify(seen))
}

main().catch((err) => {
  console.error(err)
  process.exit(1)
})
