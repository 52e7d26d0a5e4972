package skin

import (
	"encoding/json"
	"fmt"

	"mannequin/internal/meshopt"
)

const (
	meshoptCompression = "EXT_meshopt_compression"
	maxUnpacked        = 128 << 20 // bytes of all bufferViews that were compressed
)

// unpack returns the bytes of bufferViews[i], which are compressed. Its own buffer is only for programs
// that do not know the compression.
func (f *file) unpack(i int, text json.RawMessage) ([]byte, error) {
	if data, ok := f.unpacked[i]; ok {
		return data, nil
	}
	where := fmt.Sprintf("bufferViews[%d].extensions.%s", i, meshoptCompression)
	var x struct {
		Buffer, ByteOffset, ByteLength, ByteStride, Count int
		Mode, Filter                                      string
	}
	if err := json.Unmarshal(text, &x); err != nil {
		return nil, fmt.Errorf("%s: %.200w", where, err)
	}
	all, err := f.buffer(x.Buffer)
	if err != nil {
		return nil, err
	}
	if x.ByteOffset < 0 || x.ByteLength < 1 || x.ByteOffset > len(all) || x.ByteLength > len(all)-x.ByteOffset {
		return nil, fmt.Errorf("%s: %d bytes at byte %d, buffers[%d] has %d", where, x.ByteLength, x.ByteOffset, x.Buffer, len(all))
	}
	v := meshopt.View{Mode: x.Mode, Filter: x.Filter, Count: x.Count, Stride: x.ByteStride}
	size, err := v.Size(x.ByteLength)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	if f.unpackedBytes += int64(size); f.unpackedBytes > maxUnpacked {
		return nil, fmt.Errorf("%s: with its %d bytes all of them take more than %d MB: export without compression", where, size, maxUnpacked>>20)
	}
	data, err := v.Decode(all[x.ByteOffset : x.ByteOffset+x.ByteLength])
	if err != nil {
		return nil, fmt.Errorf("%s: %w", where, err)
	}
	if f.unpacked == nil {
		f.unpacked = map[int][]byte{}
	}
	f.unpacked[i] = data
	return data, nil
}
