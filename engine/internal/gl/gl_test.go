//go:build !js

package gl

import (
	"slices"
	"testing"

	"github.com/go-gl/gl/v3.3-core/gl"
)

// The constants are OpenGL's.
func TestConstants(t *testing.T) {
	for name, c := range map[string][2]uint32{
		"NONE":                   {NONE, gl.NONE},
		"NO_ERROR":               {NO_ERROR, gl.NO_ERROR},
		"TRIANGLES":              {TRIANGLES, gl.TRIANGLES},
		"UNSIGNED_BYTE":          {UNSIGNED_BYTE, gl.UNSIGNED_BYTE},
		"INT":                    {INT, gl.INT},
		"UNSIGNED_INT":           {UNSIGNED_INT, gl.UNSIGNED_INT},
		"FLOAT":                  {FLOAT, gl.FLOAT},
		"RGBA":                   {RGBA, gl.RGBA},
		"RED_INTEGER":            {RED_INTEGER, gl.RED_INTEGER},
		"DEPTH_COMPONENT":        {DEPTH_COMPONENT, gl.DEPTH_COMPONENT},
		"RGBA8":                  {RGBA8, gl.RGBA8},
		"RGBA32F":                {RGBA32F, gl.RGBA32F},
		"R32I":                   {R32I, gl.R32I},
		"DEPTH_COMPONENT24":      {DEPTH_COMPONENT24, gl.DEPTH_COMPONENT24},
		"TEXTURE_2D":             {TEXTURE_2D, gl.TEXTURE_2D},
		"TEXTURE_MAG_FILTER":     {TEXTURE_MAG_FILTER, gl.TEXTURE_MAG_FILTER},
		"TEXTURE_MIN_FILTER":     {TEXTURE_MIN_FILTER, gl.TEXTURE_MIN_FILTER},
		"TEXTURE_WRAP_S":         {TEXTURE_WRAP_S, gl.TEXTURE_WRAP_S},
		"TEXTURE_WRAP_T":         {TEXTURE_WRAP_T, gl.TEXTURE_WRAP_T},
		"TEXTURE_MAX_LEVEL":      {TEXTURE_MAX_LEVEL, gl.TEXTURE_MAX_LEVEL},
		"TEXTURE_COMPARE_MODE":   {TEXTURE_COMPARE_MODE, gl.TEXTURE_COMPARE_MODE},
		"TEXTURE_COMPARE_FUNC":   {TEXTURE_COMPARE_FUNC, gl.TEXTURE_COMPARE_FUNC},
		"NEAREST":                {NEAREST, gl.NEAREST},
		"LINEAR":                 {LINEAR, gl.LINEAR},
		"CLAMP_TO_EDGE":          {CLAMP_TO_EDGE, gl.CLAMP_TO_EDGE},
		"REPEAT":                 {REPEAT, gl.REPEAT},
		"LINEAR_MIPMAP_NEAREST":  {LINEAR_MIPMAP_NEAREST, gl.LINEAR_MIPMAP_NEAREST},
		"LINEAR_MIPMAP_LINEAR":   {LINEAR_MIPMAP_LINEAR, gl.LINEAR_MIPMAP_LINEAR},
		"COMPARE_REF_TO_TEXTURE": {COMPARE_REF_TO_TEXTURE, gl.COMPARE_REF_TO_TEXTURE},
		"LEQUAL":                 {LEQUAL, gl.LEQUAL},
		"ARRAY_BUFFER_BINDING":   {ARRAY_BUFFER_BINDING, gl.ARRAY_BUFFER_BINDING},
		"TEXTURE0":               {TEXTURE0, gl.TEXTURE0},
		"ACTIVE_TEXTURE":         {ACTIVE_TEXTURE, gl.ACTIVE_TEXTURE},
		"TEXTURE_BINDING_2D":     {TEXTURE_BINDING_2D, gl.TEXTURE_BINDING_2D},
		"MIRRORED_REPEAT":        {MIRRORED_REPEAT, gl.MIRRORED_REPEAT},
		"SRGB8_ALPHA8":           {SRGB8_ALPHA8, gl.SRGB8_ALPHA8},
		"ARRAY_BUFFER":           {ARRAY_BUFFER, gl.ARRAY_BUFFER},
		"ELEMENT_ARRAY_BUFFER":   {ELEMENT_ARRAY_BUFFER, gl.ELEMENT_ARRAY_BUFFER},
		"DYNAMIC_DRAW":           {DYNAMIC_DRAW, gl.DYNAMIC_DRAW},
		"FRAMEBUFFER":            {FRAMEBUFFER, gl.FRAMEBUFFER},
		"READ_FRAMEBUFFER":       {READ_FRAMEBUFFER, gl.READ_FRAMEBUFFER},
		"DRAW_FRAMEBUFFER":       {DRAW_FRAMEBUFFER, gl.DRAW_FRAMEBUFFER},
		"RENDERBUFFER":           {RENDERBUFFER, gl.RENDERBUFFER},
		"COLOR_ATTACHMENT0":      {COLOR_ATTACHMENT0, gl.COLOR_ATTACHMENT0},
		"DEPTH_ATTACHMENT":       {DEPTH_ATTACHMENT, gl.DEPTH_ATTACHMENT},
		"FRAMEBUFFER_COMPLETE":   {FRAMEBUFFER_COMPLETE, gl.FRAMEBUFFER_COMPLETE},
		"COLOR_BUFFER_BIT":       {COLOR_BUFFER_BIT, gl.COLOR_BUFFER_BIT},
		"POLYGON_OFFSET_FILL":    {POLYGON_OFFSET_FILL, gl.POLYGON_OFFSET_FILL},
		"PACK_ALIGNMENT":         {PACK_ALIGNMENT, gl.PACK_ALIGNMENT},
		"MAX_TEXTURE_SIZE":       {MAX_TEXTURE_SIZE, gl.MAX_TEXTURE_SIZE},
		"MAX_SAMPLES":            {MAX_SAMPLES, gl.MAX_SAMPLES},
	} {
		if c[0] != c[1] {
			t.Errorf("%s is 0x%x, OpenGL's is 0x%x", name, c[0], c[1])
		}
	}
}

func TestBytes(t *testing.T) {
	if got := Bytes([]int32{1, -1}); !slices.Equal(got, []byte{1, 0, 0, 0, 255, 255, 255, 255}) {
		t.Errorf("1 and -1 are the bytes %v", got)
	}
	if got := Bytes([]float32(nil)); len(got) != 0 {
		t.Errorf("nothing is the bytes %v", got)
	}
}
