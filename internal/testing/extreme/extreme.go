// Package extreme fills values with numbers that break things, for tests.
package extreme

import (
	"math"
	"reflect"
)

// Numbers are what Fill takes: ordinary numbers and those at the ends of float32.
var Numbers = []float64{0, 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat32, -math.MaxFloat32}

// Made are values that Fill uses for types whose zero value is of no use, such as interfaces.
type Made map[reflect.Type]func() any

// Fill sets all exported numbers in v to x, or to the nearest that they can hold: an integer for NaN
// stays as it is. It makes slices, the targets of pointers, and functions that return zero values,
// but none of these within others.
func (made Made) Fill(v reflect.Value, x float64) { made.FillFrom(v, func() float64 { return x }) }

// FillFrom is Fill with another number for each.
func (made Made) FillFrom(v reflect.Value, next func() float64) { made.fill(v, next, 0) }

const (
	rows    = 1200 // of a slice, a multiple of most widths
	inSlice = 10   // the depth of the elements of a slice
)

func (made Made) fill(v reflect.Value, next func() float64, depth int) {
	if make, ok := made[v.Type()]; ok {
		v.Set(reflect.ValueOf(make()).Convert(v.Type()))
		return
	}
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		v.SetFloat(next())
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		switch x := next(); {
		case math.IsNaN(x) || depth >= inSlice: // tables refer to themselves by indices
		case x > 1:
			v.SetInt(math.MaxInt64 >> (64 - v.Type().Bits()))
		case x < -1:
			v.SetInt(math.MinInt64 >> (64 - v.Type().Bits()))
		default:
			v.SetInt(int64(x))
		}
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		if x := next(); x > 1 {
			v.SetUint(math.MaxUint64 >> (64 - v.Type().Bits()))
		} else if x == 1 {
			v.SetUint(1)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				made.fill(v.Field(i), next, depth+1)
			}
		}
	case reflect.Array:
		for i := range v.Len() {
			made.fill(v.Index(i), next, depth+1)
		}
	case reflect.Pointer:
		if depth < 1 {
			v.Set(reflect.New(v.Type().Elem()))
			made.fill(v.Elem(), next, depth+1)
		}
	case reflect.Slice:
		if k := v.Type().Elem().Kind(); depth < 1 && k != reflect.Slice && k != reflect.Interface && k != reflect.Pointer {
			v.Set(reflect.MakeSlice(v.Type(), rows, rows))
			for i := range v.Len() {
				made.fill(v.Index(i), next, inSlice)
			}
		}
	case reflect.Func:
		if depth < 1 {
			v.Set(reflect.MakeFunc(v.Type(), func([]reflect.Value) (out []reflect.Value) {
				for i := range v.Type().NumOut() {
					out = append(out, reflect.Zero(v.Type().Out(i)))
				}
				return out
			}))
		}
	}
}
