import { decodeText } from '/work/main/src/files/text-encoding.ts'
import { readFileSync } from 'node:fs'
const c='/work/shared/cases/'
const tr=(n: string,b: Uint8Array)=>{ try { const d=decodeText(b); console.log(n, d.encoding, JSON.stringify(d.text.slice(0,60))) } catch(e: any) { console.log(n, 'FAIL', e.fault?.code ?? e) } }
for (const f of ['csv/sjis.csv','csv/gb18030.csv','csv/binary_as.txt','csv/nul_inside.txt','csv/utf8_bom_header.csv','json/bigint.json']) tr(f, readFileSync(c+f))
tr('cp1252 café', Buffer.from('name;price\r\ncaf\xe9;3\x80\r\n','latin1'))
tr('cp1252 long', Buffer.from('Der gr\xf6\xdfte M\xe4rchenk\xf6nig l\xe4uft \xfcber die Br\xfccke und i\xdft \xc4pfel.','latin1'))
tr('fr', Buffer.from("L'\xe9t\xe9 dernier, nous avons visit\xe9 le ch\xe2teau o\xf9 vivait la princesse.",'latin1'))
tr('random', Buffer.from(Array.from({length:300},(_, i)=>128+((i*73+i*i)%120))))
tr('koi8', Buffer.from([0xf0,0xd2,0xc9,0xd7,0xc5,0xd4,0x20,0xcd,0xc9,0xd2,0x2c,0x20,0xcb,0xc1,0xcb,0x20,0xc4,0xc5,0xcc,0xc1]))
tr('cp1251', Buffer.from([0xcf,0xf0,0xe8,0xe2,0xe5,0xf2,0x20,0xec,0xe8,0xf0,0x2c,0x20,0xea,0xe0,0xea,0x20,0xe4,0xe5,0xeb,0xe0]))
tr('16le', Buffer.from('\ufeffid,näme\n','utf16le')); tr('16le nobom', Buffer.from('id,näme\n1,2\n','utf16le')); tr('16be', Buffer.from('\ufeffid,name 日本\n','utf16le').swap16())
