package netruntime

import "fmt"

// FormatError says where the bytes of a model file are wrong.
type FormatError struct {
	Offset int64 // from the start of the file
	Msg    string
	Err    error // cause; io.ErrUnexpectedEOF where the file is too short
}

func (e *FormatError) Error() string {
	s := fmt.Sprintf("not a valid model file: byte %d: %s", e.Offset, e.Msg)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *FormatError) Unwrap() error { return e.Err }

func formatf(offset int64, format string, args ...any) error {
	return &FormatError{Offset: offset, Msg: fmt.Sprintf(format, args...)}
}

// UnsupportedError names something that a valid model file asks for and this
// version does not have.
type UnsupportedError struct {
	What string   // "architecture", "format" or "storage type"
	Got  string   //
	Have []string // what there is
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("model file has %s %q, which this version cannot run (it knows %q)", e.What, e.Got, e.Have)
}
