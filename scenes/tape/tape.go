// Package tape records scenes and plays them again. A tape has the scene's setup, the input of each
// tick, and a hash of the state after it. A replay by the same program makes the same bits, for any
// number of workers; if it does not, the hashes show the first tick that differs.
//
//	s, player, header, err := tape.OpenScene(setup, resources)
//	w, err := tape.NewWriter(file, header)
//	rec := tape.Record(s, w) // a scene that writes down its steps
//	err = w.Close()
//
//	r, err := tape.NewReader(file)
//	s, _, header, err := tape.OpenScene(r.Header.Setup, resources)
//	err = r.Header.Differs(header) // other weights, or another family of processors?
//	ticks, err := tape.Verify(ctx, s, r)
//
// # The file
//
// A tape begins with the line "mannequin tape 1". Blocks follow: the header as JSON, one for each
// second, and the end. A block is
//
//	kind     1 byte: 'h', 't' or 'e'
//	size     4 bytes, of the contents
//	sum      4 bytes, CRC-32C of these five
//	contents
//	sum      4 bytes, CRC-32C of the contents
//
// with numbers in little-endian order. The contents of a 't' are two varints, the number of its
// first tick and the count of ticks, then the hashes, 8 bytes each, and a DEFLATE stream of the
// inputs. Each input is a varint with a bit for each value that has changed since the tick before
// (since zero for a block's first tick), and the changed values as varints, exclusive-or the value
// before. The header lists the values by name. The contents of an 'e' are a varint, the number of
// all ticks.
//
// A block is written at once: the tape of a killed program can be played up to its last second.
package tape

import (
	"errors"
	"fmt"
	"hash/crc32"
	"slices"
	"strings"
	"sync"

	"mannequin/animsys/manifold"
	"mannequin/animsys/mar"
	"mannequin/animsys/matching"
	"mannequin/netruntime"
	"mannequin/scenes"
	"mannequin/scenes/cutscene"
	"mannequin/scenes/cutscene/script"
	"mannequin/scenes/open"
)

// Header is the setup of a recorded scene and what computed it.
type Header struct {
	Setup   open.Setup
	Parts   []Part   // the networks and databases that the scene opened
	Machine string   // netruntime.Rounding of the program that computed it
	Kernels []string // of the networks: see netruntime.Session.Kernel
}

// Part is a network or a set of styles.
type Part struct {
	Name     string `json:"name"`
	Checksum string `json:"checksum"` // see netruntime.Net.Checksum, mar.Database.Checksum, manifold.StyleSet.Checksum
}

// The names of styles as parts.
const (
	styles    = "styles"      // of ecs.MARStyle
	transfers = "styles-gram" // of ecs.GramStyle
)

// Differs returns why a scene with the header now has other bits than one with h; nil if they are
// the same.
func (h *Header) Differs(now Header) error {
	var all []error
	if h.Machine != now.Machine {
		all = append(all, fmt.Errorf("it was recorded by a program that computes in %s, this one does in %s: they round differently", h.Machine, now.Machine))
	} else if a, b := rounding(h.Kernels), rounding(now.Kernels); !slices.Equal(a, b) {
		all = append(all, fmt.Errorf("its networks ran in %s, here they run in %s: these round differently", strings.Join(a, ", "), strings.Join(b, ", ")))
	}
	for _, p := range h.Parts {
		if i := slices.IndexFunc(now.Parts, func(q Part) bool { return q.Name == p.Name }); i < 0 {
			all = append(all, fmt.Errorf("it was recorded with %q, which the scene does not use", p.Name))
		} else if now.Parts[i].Checksum != p.Checksum {
			all = append(all, fmt.Errorf("it was recorded with another %q: that had the checksum %.15s…, this one has %.15s…", p.Name, p.Checksum, now.Parts[i].Checksum))
		}
	}
	if len(all) == 0 && len(h.Parts) != len(now.Parts) {
		all = append(all, fmt.Errorf("it was recorded with %d models, the scene uses %d", len(h.Parts), len(now.Parts)))
	}
	return errors.Join(all...)
}

// rounding returns kernels with one name for those that give the same bits.
func rounding(kernels []string) []string {
	var out []string
	for _, k := range kernels {
		switch k {
		case "generic", "simd128", "avx2", "avx512":
			k = "float32"
		}
		if !slices.Contains(out, k) {
			out = append(out, k)
		}
	}
	slices.Sort(out)
	return out
}

// OpenScene is open.Scene that also returns the header of a tape.
func OpenScene(s open.Setup, m open.Resources) (scenes.Scene, scenes.Script, Header, error) {
	n := &notes{}
	scene, player, err := open.Scene(s, n.on(m))
	if err != nil {
		return nil, nil, Header{}, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	h := Header{Setup: s, Parts: slices.Clone(n.parts), Machine: netruntime.Rounding(), Kernels: slices.Clone(n.kernels)}
	slices.Sort(h.Kernels)
	return scene, player, h, nil
}

// notes records what a scene opens.
type notes struct {
	mu      sync.Mutex // scenes may open sessions from goroutines of their own
	parts   []Part
	kernels []string
}

// on returns resources that record what m opens.
func (n *notes) on(m open.Resources) open.Resources {
	net, db, gram, open, character := m.Net, m.Styles, m.Transfers, m.Open, m.Character
	m.Net = func(name string) (*netruntime.Net, error) {
		out, err := net(name)
		return out, n.part(name, out.Checksum, err)
	}
	if db != nil {
		m.Styles = func() (*mar.Database, error) {
			out, err := db()
			if out == nil {
				return nil, err
			}
			return out, n.part(styles, out.Checksum, err)
		}
	}
	if gram != nil {
		m.Transfers = func() (*manifold.StyleSet, error) {
			out, err := gram()
			return out, n.part(transfers, out.Checksum, err)
		}
	}
	if character != nil {
		m.Character = func(name string) (*matching.File, error) {
			out, err := character(name)
			part := "the character " + name
			if name == "" {
				part = "the character that rules make"
			}
			return out, n.part(part, func() (string, error) { return fmt.Sprintf("%016x", out.Fingerprint()), nil }, err)
		}
	}
	read := m.Script
	if read == nil {
		read = cutscene.Open
	}
	m.Script = func(name string) (*script.Script, error) {
		out, err := read(name)
		return out, n.part("the script "+name, func() (string, error) { return out.Checksum, nil }, err)
	}
	m.Open = func(net *netruntime.Net, o netruntime.SessionOptions) (netruntime.Session, error) {
		s, err := open.Session(net, o)
		if err != nil {
			return nil, err
		}
		n.mu.Lock()
		defer n.mu.Unlock()
		if k := s.Kernel(); !slices.Contains(n.kernels, k) {
			n.kernels = append(n.kernels, k)
		}
		return s, nil
	}
	return m
}

// part records a part, unless opening it failed with err.
func (n *notes) part(name string, checksum func() (string, error), err error) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err != nil || slices.ContainsFunc(n.parts, func(p Part) bool { return p.Name == name }) {
		return err
	}
	sum, err := checksum()
	if err == nil {
		n.parts = append(n.parts, Part{name, sum})
	}
	return err
}

// The format of the file.
const (
	magic   = "mannequin tape "
	version = "1"

	kindHeader = 'h'
	kindTicks  = 't'
	kindEnd    = 'e'

	headSize = 9 // of a block, before its contents
	sumSize  = 4

	blockTicks = scenes.TickRate // of all blocks except the last
	maxTicks   = 1024            // of a block that is read
	maxBlock   = 1 << 20         // bytes of its contents
	maxValues  = 64              // of an input
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// header is a Header in the file.
type header struct {
	Setup    any      `json:"setup"`
	Parts    []Part   `json:"parts"`
	Machine  string   `json:"machine"`
	Kernels  []string `json:"kernels"`
	Rate     int      `json:"rate"`               // ticks per second
	Steering int      `json:"steering,omitempty"` // version of the scene's steering, if it is not 1
	Inputs   []string `json:"inputs"`             // values of an input, in the order of their bits
}
