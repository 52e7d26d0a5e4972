// Package media writes rendered frames to files: a PNG sequence, a GIF, or an MP4 through ffmpeg. A
// result is complete or absent: it is written under a temporary name and renamed at the end.
package media

import (
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"strings"
)

// Options is the format of the frames.
type Options struct {
	Width, Height int // pixels, 1 to 16384
	FPS           int // frames per second, 1 to 1000
}

// Writer takes frames in order. It ends with Close, which completes the result, or Abort, which
// removes it. Abort after Close does nothing, so that it can be deferred.
type Writer interface {
	// Frame adds one picture of the size in Options. The caller may reuse the picture.
	Frame(img *image.RGBA) error
	// Close completes the result and moves it to its place.
	Close() error
	// Abort removes what was written.
	Abort()
}

// Create starts the file or folder at path: *.mp4, *.gif, or a folder for frame_00000.png and so
// on. Cancelling ctx stops ffmpeg and makes later calls fail with ctx's error.
func Create(ctx context.Context, path string, opt Options) (Writer, error) {
	if opt.Width < 1 || opt.Height < 1 || opt.Width > 16384 || opt.Height > 16384 {
		return nil, fmt.Errorf("media: picture of %d×%d pixels: want 1 to 16384 each way", opt.Width, opt.Height)
	}
	if opt.FPS < 1 || opt.FPS > 1000 {
		return nil, fmt.Errorf("media: %d frames per second: want 1 to 1000", opt.FPS)
	}
	if err := Check(path); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, fmt.Errorf("media: %w", err)
	}
	b := base{ctx: ctx, path: path, opt: opt}
	switch strings.ToLower(filepath.Ext(path)) {
	case ".mp4":
		return newMP4(b)
	case ".gif":
		return newGIF(b)
	default:
		return newPNG(b)
	}
}

// ErrNoFFmpeg is the error of an MP4 without ffmpeg.
var ErrNoFFmpeg = errors.New("media: ffmpeg is not installed: install it (Debian: apt-get install ffmpeg), or write a .gif or a folder of PNGs")

// Check returns Create's error for path, an unknown extension or ErrNoFFmpeg. It writes nothing.
func Check(path string) error {
	switch ext := strings.ToLower(filepath.Ext(path)); ext {
	case ".mp4", ".gif":
		if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() {
			return fmt.Errorf("media: %s exists and is not a regular file", path)
		}
		if ext == ".gif" {
			return nil
		}
		_, err := FFmpeg()
		return err
	case "":
		if path == "" {
			return errors.New("media: no output file: give a name.mp4, a name.gif or a folder")
		}
		if st, err := os.Stat(path); err == nil && !st.IsDir() {
			return fmt.Errorf("media: %s is a file: give a name.mp4, a name.gif or a folder", path)
		}
		return nil
	default:
		if st, err := os.Stat(path); err == nil && st.IsDir() {
			return nil
		}
		return fmt.Errorf("media: %s: cannot write %q: use .mp4, .gif, or a name without extension for a folder of PNGs", path, ext)
	}
}

// base is the common part of the writers.
type base struct {
	ctx    context.Context
	path   string
	opt    Options
	frames int
	done   bool // closed or aborted
}

func (b *base) accept(img *image.RGBA) error {
	if err := b.ctx.Err(); err != nil {
		return fmt.Errorf("media: %s: %w", b.path, err)
	}
	if b.done {
		return fmt.Errorf("media: %s: frame after the end", b.path)
	}
	if img.Rect.Dx() != b.opt.Width || img.Rect.Dy() != b.opt.Height {
		return fmt.Errorf("media: %s: frame of %d×%d, want %d×%d", b.path, img.Rect.Dx(), img.Rect.Dy(), b.opt.Width, b.opt.Height)
	}
	b.frames++
	return nil
}

func (b *base) finish() error {
	if b.done {
		return fmt.Errorf("media: %s: closed twice", b.path)
	}
	if err := b.ctx.Err(); err != nil {
		return fmt.Errorf("media: %s: %w", b.path, err)
	}
	if b.frames == 0 {
		return fmt.Errorf("media: %s: no frames", b.path)
	}
	return nil
}

// bytesOf returns the picture's rows without gaps: img's own bytes if they have none.
func bytesOf(img *image.RGBA, scratch []byte) ([]byte, []byte) {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	if img.Stride == 4*w {
		i := img.PixOffset(img.Rect.Min.X, img.Rect.Min.Y)
		return img.Pix[i : i+4*w*h], scratch
	}
	scratch = scratch[:0]
	for y := range h {
		i := img.PixOffset(img.Rect.Min.X, img.Rect.Min.Y+y)
		scratch = append(scratch, img.Pix[i:i+4*w]...)
	}
	return scratch, scratch
}
