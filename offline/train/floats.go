package train

import (
	"encoding/binary"
	"io"
	"math"
	"unsafe"
)

// littleEndian reports whether the machine stores numbers as the file does, so their bytes can be
// copied.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

func writeFloats(w io.Writer, a []float32) error {
	if len(a) == 0 {
		return nil
	}
	if littleEndian {
		_, err := w.Write(bytesOf(a))
		return err
	}
	return binary.Write(w, binary.LittleEndian, a)
}

func readFloats(r io.Reader, a []float32) error {
	if len(a) == 0 {
		return nil
	}
	var err error
	if littleEndian {
		_, err = io.ReadFull(r, bytesOf(a))
	} else {
		err = binary.Read(r, binary.LittleEndian, a)
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errTruncated
	}
	return err
}

// bytesOf returns the memory of numbers.
func bytesOf[T uint16 | float32 | float64](a []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(a))), len(a)*int(unsafe.Sizeof(a[0])))
}

// roundBF16 rounds numbers to bfloat16, the upper halves of float32: to nearest, ties to even. NaN stays NaN.
func roundBF16(a []float32) {
	for i, v := range a {
		u := math.Float32bits(v)
		if v == v {
			u += 0x7fff + u>>16&1
		} else {
			u |= 1 << 22
		}
		a[i] = math.Float32frombits(u &^ 0xffff)
	}
}
