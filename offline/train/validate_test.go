package train

import (
	"math"
	"strings"
	"testing"
)

func TestValidate(t *testing.T) {
	if (&Job{}).Validate() == nil {
		t.Error("the zero value is valid")
	}
	if err := newToy(t).job.Validate(); err != nil {
		t.Fatal(err)
	}
	many := uint32(math.MaxInt32) + 1
	for field, spoil := range map[string]func(j *Job){
		"Params":        func(j *Job) { j.Params = nil },
		"Loss":          func(j *Job) { j.Loss = nil },
		"Batch":         func(j *Job) { j.Batch = 0 },
		"Samples":       func(j *Job) { j.Samples = j.Batch - 1 },
		"HeldOut":       func(j *Job) { j.HeldOut = 0 },
		"HeldOut is":    func(j *Job) { j.HeldOut = int(many) },
		"Epochs":        func(j *Job) { j.Epochs = 0 },
		"AdamW.Rate":    func(j *Job) { j.Optimizer = AdamW{Rate: math.NaN()} },
		"AdamW.Decay":   func(j *Job) { j.Optimizer = AdamW{Rate: 1, Decay: -1} },
		"AdamW.Beta1":   func(j *Job) { j.Optimizer = AdamW{Rate: 1, Beta1: 1} },
		"AdamW.Beta2":   func(j *Job) { j.Optimizer = AdamW{Rate: 1, Beta2: -0.1} },
		"AdamW.Eps":     func(j *Job) { j.Optimizer = AdamW{Rate: 1} },
		"Eps is 1e-50":  func(j *Job) { j.Optimizer = AdamW{Rate: 1, Eps: 1e-50} }, // 0 in float32
		"b1 twice":      func(j *Job) { j.Params = append(j.Params, j.Params[1]) },
		"Limit":         func(j *Job) { j.Limit = -1 },
		"Checkpoint":    func(j *Job) { j.Checkpoint = "" },
		"Every":         func(j *Job) { j.Every = 0 },
		"Log":           func(j *Job) { j.Log = nil },
		"Now":           func(j *Job) { j.Now = nil },
		"AdaDelta.Rate": func(j *Job) { j.Optimizer = AdaDelta{Rho: 0.9, Eps: 1} },
		"AdaDelta.Rho":  func(j *Job) { j.Optimizer = AdaDelta{Rate: 1, Rho: 1, Eps: 1} },
		"AdaDelta.Eps":  func(j *Job) { j.Optimizer = AdaDelta{Rate: 1, Eps: math.Inf(1)} },
		"Optimizer":     func(j *Job) { j.Optimizer = nil },
		"Schedule":      func(j *Job) { j.Schedule = nil },
		"L1":            func(j *Job) { j.L1 = -1 },
		"L2":            func(j *Job) { j.L2 = math.NaN() },
		"ClipNorm":      func(j *Job) { j.ClipNorm = math.Inf(1) },
		"ClipValue":     func(j *Job) { j.ClipValue = -1 },
		"Patience":      func(j *Job) { j.Patience = -1 },
		"Every is":      func(j *Job) { j.Schedule = StepDecay{Factor: 0.1} },
		"Factor":        func(j *Job) { j.Schedule = StepDecay{Every: 1} },
		"Epochs of":     func(j *Job) { j.Schedule = WarmUp{Then: Constant{}} },
		"Then":          func(j *Job) { j.Schedule = WarmUp{Epochs: 1} },
		"First":         func(j *Job) { j.Schedule = WarmRestarts{Mult: 1, Clamp: 1} },
		"Mult":          func(j *Job) { j.Schedule = WarmRestarts{First: 1, Clamp: 1} },
		"Clamp":         func(j *Job) { j.Schedule = WarmRestarts{First: 1, Mult: 1, Clamp: 1.5} },
	} {
		j := newToy(t).job
		spoil(j)
		if err := j.Validate(); err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("%s spoiled: error %v does not name it", field, err)
		}
	}
}
