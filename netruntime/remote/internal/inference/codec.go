package inference

import (
	"fmt"
	"sync"

	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
)

// Codec encodes and decodes messages for gRPC: those of this package, and those of generated code.
type Codec struct{}

// Name implements encoding.CodecV2.
func (Codec) Name() string { return proto.Name }

// Marshal implements encoding.CodecV2.
func (Codec) Marshal(v any) (mem.BufferSlice, error) {
	switch m := v.(type) {
	case *Message:
		b := m.Pool.Get(0)
		*b = m.Append((*b)[:0])
		return mem.BufferSlice{mem.NewBuffer(b, m.Pool)}, nil
	case *Encoded:
		return mem.BufferSlice{mem.NewBuffer(m.Bytes, m.Pool)}, nil
	case *MetadataRequest:
		return mem.BufferSlice{mem.SliceBuffer(appendText(appendText(nil, 1, m.Model), 2, m.Version))}, nil
	}
	return encoding.GetCodecV2(proto.Name).Marshal(v)
}

// Unmarshal implements encoding.CodecV2.
func (Codec) Unmarshal(data mem.BufferSlice, v any) error {
	switch m := v.(type) {
	case *Message:
		m.Free()
		m.data = data.MaterializeToBuffer(mem.DefaultBufferPool())
		m.Err = m.Decode(m.data.ReadOnlyData())
		return nil
	case *Metadata:
		return m.decode(data.Materialize())
	case *Encoded:
		return fmt.Errorf("cannot decode a %T", v)
	}
	return encoding.GetCodecV2(proto.Name).Unmarshal(data, v)
}

// Encoded is a message that is encoded already.
type Encoded struct {
	Bytes *[]byte // from Pool, to which gRPC returns it
	Pool  *Pool
}

// Pool keeps the buffers of encoded messages. gRPC may still send from one after a call has ended, and
// returns it when it no longer does.
type Pool struct {
	mu   sync.Mutex
	free []*[]byte
}

// maxFree is the most buffers that a pool keeps.
const maxFree = 16

// Get returns a buffer. Its length and contents are of no meaning.
func (p *Pool) Get(int) *[]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		b := p.free[n-1]
		p.free = p.free[:n-1]
		return b
	}
	return new([]byte)
}

// Put takes a buffer back.
func (p *Pool) Put(b *[]byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.free) < maxFree {
		p.free = append(p.free, b)
	}
}
