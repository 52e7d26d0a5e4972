package tape

import (
	"math"

	"mannequin/scenes"
)

// value is one number of an input, as bits.
type value struct {
	name string // as in the header; it never changes
	get  func(in *scenes.Input) uint64
	set  func(in *scenes.Input, bits uint64) // values that do not fit read differently
}

// values lists all numbers of an input.
var values = []value{
	number("Forward", func(in *scenes.Input) *float32 { return &in.Forward }),
	number("Side", func(in *scenes.Input) *float32 { return &in.Side }),
	number("Turn", func(in *scenes.Input) *float32 { return &in.Turn }),
	whole("Gait", func(in *scenes.Input) *scenes.Gait { return &in.Gait }),
	flag("Sit", func(in *scenes.Input) *bool { return &in.Sit }),
	flag("Lie", func(in *scenes.Input) *bool { return &in.Lie }),
	flag("Stand", func(in *scenes.Input) *bool { return &in.Stand }),
	flag("Jump", func(in *scenes.Input) *bool { return &in.Jump }),
	flag("Reset", func(in *scenes.Input) *bool { return &in.Reset }),

	flag("Touch.Set", func(in *scenes.Input) *bool { return &in.Touch.Set }),
	whole("Touch.Slider", func(in *scenes.Input) *int { return &in.Touch.Slider }),
	number("Touch.Value", func(in *scenes.Input) *float32 { return &in.Touch.Value }),
	whole("Touch.Select", func(in *scenes.Input) *int { return &in.Touch.Select }),
	number("Touch.Move", func(in *scenes.Input) *float32 { return &in.Touch.Move }),
	whole("Touch.Press", func(in *scenes.Input) *byte { return &in.Touch.Press }),

	flag("Watched", func(in *scenes.Input) *bool { return &in.Watched }),
	number("Eye.X", func(in *scenes.Input) *float32 { return &in.Eye.X }),
	number("Eye.Y", func(in *scenes.Input) *float32 { return &in.Eye.Y }),
	number("Eye.Z", func(in *scenes.Input) *float32 { return &in.Eye.Z }),
	number("Ahead.X", func(in *scenes.Input) *float32 { return &in.Ahead.X }),
	number("Ahead.Y", func(in *scenes.Input) *float32 { return &in.Ahead.Y }),
	number("Ahead.Z", func(in *scenes.Input) *float32 { return &in.Ahead.Z }),
	number("Saving", func(in *scenes.Input) *float32 { return &in.Saving }),
	flag("Lock", func(in *scenes.Input) *bool { return &in.Lock }),
	whole("Own", func(in *scenes.Input) *uint8 { return &in.Own }),
}

func number(name string, at func(*scenes.Input) *float32) value {
	return value{name,
		func(in *scenes.Input) uint64 { return uint64(math.Float32bits(*at(in))) },
		func(in *scenes.Input, bits uint64) { *at(in) = math.Float32frombits(uint32(bits)) }}
}

func whole[T ~int | ~uint8](name string, at func(*scenes.Input) *T) value {
	return value{name,
		func(in *scenes.Input) uint64 { return uint64(*at(in)) },
		func(in *scenes.Input, bits uint64) { *at(in) = T(bits) }}
}

func flag(name string, at func(*scenes.Input) *bool) value {
	return value{name,
		func(in *scenes.Input) uint64 {
			if *at(in) {
				return 1
			}
			return 0
		},
		func(in *scenes.Input, bits uint64) { *at(in) = bits != 0 }}
}
