package e2e

import (
	"bytes"
	"encoding/binary"
)

// Language models of less than three megabytes, for a real inference server to run: files in the format GGUF, version
// 3, of the architecture llama. Nothing is trained. [randomGGUF] has random weights that favour short texts: under a
// grammar it writes something different for every seed, and only the server holds it to a schema. [scriptedGGUF]
// repeats given texts word for word, for a conversation that is known beforehand.

// ggufFile is metadata by key, and tensors of 32-bit floats.
type ggufFile struct {
	meta    bytes.Buffer
	keys    uint64
	tensors []tensor
}

type tensor struct {
	name string
	dims []int // innermost first
	data []float32
}

// The format's numbers for types.
const (
	typeUint32  = 4
	typeInt32   = 5
	typeFloat32 = 6
	typeBool    = 7
	typeString  = 8
	typeArray   = 9

	tensorFloat32 = 0
	ggufVersion   = 3
	alignment     = 32 // of the tensors' data, which is the default
)

// put writes numbers in the format's encoding. A buffer accepts everything of a fixed size.
func put(b *bytes.Buffer, values ...any) {
	for _, v := range values {
		if s, ok := v.(string); ok {
			put(b, uint64(len(s)))
			b.WriteString(s)
			continue
		}
		_ = binary.Write(b, binary.LittleEndian, v) // only fails for types without a fixed size
	}
}

func (f *ggufFile) set(key string, kind uint32, value ...any) {
	put(&f.meta, key, kind)
	put(&f.meta, value...)
	f.keys++
}

func (f *ggufFile) text(key, value string)             { f.set(key, typeString, value) }
func (f *ggufFile) number(key string, value int)       { f.set(key, typeUint32, uint32(value)) }
func (f *ggufFile) float(key string, value float32)    { f.set(key, typeFloat32, value) }
func (f *ggufFile) flag(key string, value bool)        { f.set(key, typeBool, value) }
func (f *ggufFile) numbers(key string, values []int32) { f.list(key, typeInt32, len(values), values) }

func (f *ggufFile) texts(key string, values []string) {
	all := make([]any, len(values))
	for i, v := range values {
		all[i] = v
	}
	f.list(key, typeString, len(values), all...)
}

func (f *ggufFile) list(key string, kind uint32, n int, values ...any) {
	f.set(key, typeArray, append([]any{kind, uint64(n)}, values...)...)
}

func (f *ggufFile) tensor(name string, data []float32, dims ...int) {
	f.tensors = append(f.tensors, tensor{name, dims, data})
}

// bytes returns the file: header, metadata, the tensors' offsets, their data.
func (f *ggufFile) bytes() []byte {
	var b bytes.Buffer
	b.WriteString("GGUF")
	put(&b, uint32(ggufVersion), uint64(len(f.tensors)), f.keys)
	b.Write(f.meta.Bytes())
	offset := 0
	for _, t := range f.tensors {
		put(&b, t.name, uint32(len(t.dims)))
		for _, d := range t.dims {
			put(&b, uint64(d))
		}
		put(&b, uint32(tensorFloat32), uint64(offset))
		offset += aligned(4 * len(t.data))
	}
	for _, t := range f.tensors {
		b.Write(make([]byte, aligned(b.Len())-b.Len()))
		put(&b, t.data)
	}
	b.Write(make([]byte, aligned(b.Len())-b.Len()))
	return b.Bytes()
}

func aligned(n int) int { return (n + alignment - 1) / alignment * alignment }
