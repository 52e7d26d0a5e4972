//go:build ort

package ort

import (
	"fmt"
	"os"

	"github.com/yalue/onnxruntime_go"
)

// Load loads the library that the environment variable ORT_LIB names, once per process.
func Load() error {
	if onnxruntime_go.IsInitialized() {
		return nil
	}
	lib := os.Getenv("ORT_LIB")
	if lib == "" {
		return fmt.Errorf("ort: ORT_LIB is not set: want the path that scripts/onnxruntime.sh prints")
	}
	onnxruntime_go.SetSharedLibraryPath(lib)
	if err := onnxruntime_go.InitializeEnvironment(); err != nil {
		return fmt.Errorf("ort: ORT_LIB=%s: %w", lib, err)
	}
	return nil
}

// Version returns the library's version.
func Version() string { return onnxruntime_go.GetVersion() }

// Options are the options of a session.
type Options struct {
	Threads int  // threads that compute one operation
	Spin    bool // threads without work spin for a while before they sleep
}

// Array is an input or output of a session: row-major, its memory shared.
type Array struct {
	Name string
	Dims []int
	Data []float32
}

// Session is a model with its arrays.
type Session struct {
	session *onnxruntime_go.AdvancedSession
	arrays  []*onnxruntime_go.Tensor[float32] // keeps them alive: the session holds them only in C
}

// New makes a session that reads in and writes out at each Run.
func New(model []byte, o Options, in, out []Array) (s *Session, err error) {
	s = &Session{}
	defer func() {
		if err != nil {
			s.Close()
			s, err = nil, fmt.Errorf("ort: %w", err)
		}
	}()
	settings, err := onnxruntime_go.NewSessionOptions()
	if err != nil {
		return s, err
	}
	defer settings.Destroy()
	spin := "0"
	if o.Spin {
		spin = "1"
	}
	for _, f := range []func() error{
		func() error { return settings.SetIntraOpNumThreads(o.Threads) },
		func() error { return settings.SetInterOpNumThreads(1) },
		func() error {
			return settings.SetGraphOptimizationLevel(onnxruntime_go.GraphOptimizationLevelEnableAll)
		},
		func() error { return settings.AddSessionConfigEntry("session.intra_op.allow_spinning", spin) },
	} {
		if err := f(); err != nil {
			return s, err
		}
	}
	bind := func(arrays []Array) (names []string, values []onnxruntime_go.Value, err error) {
		for _, a := range arrays {
			dims := make([]int64, len(a.Dims))
			for i, d := range a.Dims {
				dims[i] = int64(d)
			}
			t, err := onnxruntime_go.NewTensor(onnxruntime_go.NewShape(dims...), a.Data)
			if err != nil {
				return nil, nil, fmt.Errorf("%s %v: %w", a.Name, a.Dims, err)
			}
			s.arrays = append(s.arrays, t)
			names, values = append(names, a.Name), append(values, t)
		}
		return names, values, nil
	}
	inNames, inValues, err := bind(in)
	if err != nil {
		return s, err
	}
	outNames, outValues, err := bind(out)
	if err != nil {
		return s, err
	}
	s.session, err = onnxruntime_go.NewAdvancedSessionWithONNXData(model, inNames, outNames, inValues, outValues, settings)
	return s, err
}

// Run computes the outputs from the inputs.
func (s *Session) Run() error { return s.session.Run() }

// Close frees the session. Its arrays' memory belongs to the caller.
func (s *Session) Close() {
	if s.session != nil {
		s.session.Destroy()
		s.session = nil
	}
	for _, t := range s.arrays {
		t.Destroy()
	}
	s.arrays = nil
}
