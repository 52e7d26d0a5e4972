package train

import (
	"encoding/binary"
	"io"
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
func bytesOf[T float32 | float64](a []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(a))), len(a)*int(unsafe.Sizeof(a[0])))
}
