// Prints the CIDs of files and folders: node cid.mjs PROFILE PATH...
import { readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { MemoryBlockstore } from 'blockstore-core'
import { importer } from 'ipfs-unixfs-importer'
import { fixedSize } from 'ipfs-unixfs-importer/chunker'
import { balanced } from 'ipfs-unixfs-importer/layout'

const profiles = {
  v0: { profile: 'unixfs-v0-2015' },
  v1: {
    cidVersion: 1,
    rawLeaves: true,
    chunker: fixedSize({ chunkSize: 262144 }),
    layout: balanced({ maxChildrenPerNode: 174 }),
    fieldOrder: 'links-first',
    shardSplitStrategy: 'links-bytes'
  },
  'v1-2025': { profile: 'unixfs-v1-2025' }
}

function * entries (path, name) {
  if (!statSync(path).isDirectory()) {
    yield { path: name, content: readFileSync(path) }
    return
  }
  yield { path: name }
  for (const child of readdirSync(path)) {
    yield * entries(join(path, child), `${name}/${child}`)
  }
}

const [profile, ...paths] = process.argv.slice(2)
for (const path of paths) {
  let root
  for await (const entry of importer(entries(path, 'root'), new MemoryBlockstore(), profiles[profile])) {
    if (entry.path === 'root') root = entry
  }
  console.log(root.cid.toString())
}
