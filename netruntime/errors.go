package netruntime

import "fmt"

// FormatError reports where the bytes of a model file are wrong.
type FormatError struct {
	Offset int64 // from the start of the file
	Msg    string
	Err    error // cause: a *TensorError, a *GraphError, or io.ErrUnexpectedEOF if the file is too short
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

// TensorError reports what is wrong with a tensor: it is missing, unknown or listed twice, its
// shape does not fit the network, or its values are impossible.
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

// GraphError reports what is wrong with a graph.
type GraphError struct {
	Node string // or an input or output; empty for the whole graph
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

// UnsupportedError names a feature that a valid model file uses and this version does not support.
type UnsupportedError struct {
	What string   // "architecture", "format", "storage type", "operation" or "activation"
	Got  string   // the file's
	Have []string // the supported ones
}

func (e *UnsupportedError) Error() string {
	return fmt.Sprintf("model file has %s %q, which this version cannot run (it knows %q)", e.What, e.Got, e.Have)
}
