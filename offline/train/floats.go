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
		_, err := w.Write(unsafe.Slice((*byte)(unsafe.Pointer(&a[0])), 4*len(a)))
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
		_, err = io.ReadFull(r, unsafe.Slice((*byte)(unsafe.Pointer(&a[0])), 4*len(a)))
	} else {
		err = binary.Read(r, binary.LittleEndian, a)
	}
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return errTruncated
	}
	return err
}
