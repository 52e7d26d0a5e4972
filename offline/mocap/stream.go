package mocap

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"mannequin/animsys/skel"
	"mannequin/engine/m3"
)

const (
	// maxHeader bounds the text before the first frame of a stream, in bytes.
	maxHeader = 8 << 20
	// maxLine bounds a line of it: the values of skel.MaxJoints joints fit.
	maxLine = 1 << 20
)

// FrameReader reads a BVH from a stream, frame by frame. A frame is a line and is parsed
// as soon as the line is complete. The reader holds one frame, however long the stream.
type FrameReader struct {
	Skel      *skel.Skeleton
	FrameTime float64 // seconds per frame as the stream says

	name     string
	in       *bufio.Scanner
	line     int // number of the line that was read last
	channels [][]Channel
	width    int
	frames   int
	declared int // frames that the header promises; 0: until the stream ends
}

// NewFrameReader reads the header of a stream, up to the line "Frame Time:"; name is for messages.
// If "Frames:" is 0, has no number or is missing, frames are read until the stream ends.
func NewFrameReader(name string, r io.Reader) (*FrameReader, error) {
	f := &FrameReader{name: name, in: bufio.NewScanner(r)}
	f.in.Buffer(make([]byte, 0, 64<<10), maxLine)
	var text []byte
	for {
		line, err := f.next()
		if err == io.EOF {
			break // the parser reports what is missing
		}
		if err != nil {
			return nil, err
		}
		if text = append(append(text, line...), '\n'); len(text) > maxHeader {
			return nil, f.fail("no \"Frame Time:\" within %d MB: a BVH is its HIERARCHY, MOTION, and a line per frame", maxHeader>>20)
		}
		if word, rest, _ := bytes.Cut(bytes.TrimSpace(line), []byte{' '}); bytes.EqualFold(word, []byte("Frame")) && len(rest) >= 4 && bytes.EqualFold(bytes.TrimSpace(rest)[:4], []byte("Time")) {
			break
		}
	}
	return f, f.header(newParser(name, text))
}

// header parses what comes before the first frame.
func (f *FrameReader) header(p *parser) error {
	if err := p.hierarchy(); err != nil {
		return err
	}
	if p.accept("Frames") {
		p.accept(":")
		if t, at := p.token(); t != "" && (t[0] == '-' || t[0] >= '0' && t[0] <= '9') {
			n, err := strconv.ParseInt(t, 10, 32)
			if err != nil || n < 0 {
				return p.fail(at, "expected the number of frames after \"Frames:\", 0 if it is not known, found %s", quote(t))
			}
			p.pos, f.declared = p.pos+len(t), int(n)
		}
	}
	dt, err := p.frameTime()
	if err != nil {
		return err
	}
	if t, at := p.token(); t != "" {
		return p.fail(at, "expected the end of the line after the Frame Time, found %s", quote(t))
	}
	f.Skel, f.channels, f.FrameTime = &p.skel, p.channels, dt
	if f.width = (&Recording{Channels: p.channels}).NumChannels(); f.width == 0 {
		return p.fail(len(p.data), "no joint has CHANNELS: there is nothing to read")
	}
	return nil
}

// FPS returns the frame rate, tidied as a clip's is.
func (f *FrameReader) FPS() float64 { return tidyRate(f.FrameTime) }

// Next waits for the next frame and writes its local transforms, one per joint, in
// the stream's unit of length. After the last frame the error is io.EOF. A broken frame
// is a *SyntaxError that names the line.
func (f *FrameReader) Next(pos []m3.Vec3, rot []m3.Quat) error {
	for {
		line, err := f.next()
		switch {
		case err == io.EOF && f.frames < f.declared:
			return f.fail("the stream ends after %d of %d frames", f.frames, f.declared)
		case err != nil:
			return err
		case len(bytes.TrimFunc(line, isSpace)) == 0:
			continue
		case f.declared > 0 && f.frames == f.declared:
			return f.fail("expected the end after %d frames, found %s", f.declared, quote(string(bytes.TrimSpace(line))))
		}
		copy(pos, f.Skel.Offsets)
		p := parser{name: f.name, data: line, channels: f.channels}
		if j, ch, ok := p.frame(pos, rot); !ok {
			return f.bad(&p, j, ch)
		}
		if n := int(p.words()); n > 0 {
			return f.fail("frame %d has %d values, want %d", f.frames+1, f.width+n, f.width)
		}
		f.frames++
		return nil
	}
}

// bad returns the error of the value at p's place in a line.
func (f *FrameReader) bad(p *parser, j int, ch Channel) error {
	t, _ := p.token()
	if t == "" {
		have := parser{data: p.data}
		return f.fail("frame %d has %d values, want %d", f.frames+1, have.words(), f.width)
	}
	return f.fail("%s", wrongValue(fmt.Sprintf("%s of %q in frame %d", ch, f.Skel.Names[j], f.frames+1), t))
}

// next returns the next line, which is valid until the next call.
func (f *FrameReader) next() ([]byte, error) {
	if f.in.Scan() {
		f.line++
		return f.in.Bytes(), nil
	}
	switch err := f.in.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		f.line++
		return nil, f.fail("a line of more than %d bytes", maxLine)
	case err != nil:
		return nil, fmt.Errorf("%s: %w", f.name, err)
	}
	return nil, io.EOF
}

func (f *FrameReader) fail(format string, args ...any) error {
	return &SyntaxError{File: f.name, Line: max(f.line, 1), Msg: fmt.Sprintf(format, args...)}
}

// FrameWriter writes a BVH frame by frame, each with one Write. Its header says
// "Frames: 0" because the number of frames is not known. ReadBVH, FrameReader and
// tools that count lines read all that follow.
type FrameWriter struct {
	out io.Writer
	w   *writer
	n   int
}

// NewFrameWriter writes the header, with WriteClip's channels.
func NewFrameWriter(out io.Writer, s *skel.Skeleton, fps float64) (*FrameWriter, error) {
	w, err := newWriter(usual(skel.NewClip(s, fps, 0)))
	if err != nil {
		return nil, fmt.Errorf("bvh: %w", err)
	}
	return &FrameWriter{out: out, w: w}, w.hierarchy(out)
}

// Frame writes the next frame, local transforms of the skeleton. It returns an error
// for transforms that are not finite, and for joints other than roots that move in
// their parent: the header has no channels for that.
func (f *FrameWriter) Frame(pos []m3.Vec3, rot []m3.Quat) error {
	s := f.w.Clip.Skel
	for j, p := range s.Parents {
		if !pos[j].Finite() || !rot[j].Finite() || rot[j].Dot(rot[j]) < 1e-12 || max(m3.Abs(pos[j].X), m3.Abs(pos[j].Y), m3.Abs(pos[j].Z)) > maxValue {
			return fmt.Errorf("bvh: frame %d of joint %q: not a finite transform: %v %v", f.n, s.Names[j], pos[j], rot[j])
		}
		if d := pos[j].Sub(s.Offsets[j]); p >= 0 && max(m3.Abs(d.X), m3.Abs(d.Y), m3.Abs(d.Z)) > posTolerance {
			return fmt.Errorf("bvh: frame %d: joint %q moves in its parent", f.n, s.Names[j])
		}
	}
	f.n++
	f.w.frame(pos, rot)
	return f.w.flush(f.out)
}
