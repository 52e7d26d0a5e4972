package netruntime

import "fmt"

// FormatError says where the bytes of a model file are wrong.
type FormatError struct {
	Offset int64 // from the start of the file
	Msg    string
	Err    error // cause: a *TensorError, a *GraphError, or io.ErrUnexpectedEOF where the file is too short
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

// TensorError says what is wrong with a tensor: it is missing, unknown, twice
// there, not of the shape that the network asks for, or its values cannot be.
type TensorError struct {
	Tensor string
	Msg    string
	Err    error // cause, or nil
}

func (e *TensorError) Error() string {
	s := fmt.Sprintf("tensor %q: %s", e.Tensor, e.Msg)
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *TensorError) Unwrap() error { return e.Err }

func tensorf(name, format string, args ...any) error {
	return &TensorError{Tensor: name, Msg: fmt.Sprintf(format, args...)}
}

// GraphError says what is wrong in a graph.
type GraphError struct {
	Node string // or the name of an input or output; empty for the graph as a whole
	Msg  string
}

func (e *GraphError) Error() string {
	if e.Node == "" {
		return "graph: " + e.Msg
	}
	return fmt.Sprintf("graph: %q: %s", e.Node, e.Msg)
}

func graphf(node, format string, args ...any) error {
	return &GraphError{Node: node, Msg: fmt.Sprintf(format, args...)}
}

// UnsupportedError names something that a valid model file asks for and this
// version does not have.
type UnsupportedError struct {
	What string   // "architecture", "format", "storage type", "operation" or "activation"
	Got  string   //
	Have []string // what there is
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("model file has %s %q, which this version cannot run (it knows %q)", e.What, e.Got, e.Have)
}
