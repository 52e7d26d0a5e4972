package skin

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"mannequin/internal/boundedfile"
)

// Meta is what a file says about its origin: https://github.com/vrm-c/vrm-specification. What it does not
// say is empty.
type Meta struct {
	Format    string   `json:"format,omitempty"`  // VRM 0.x or VRM 1.0; empty for other files
	Title     string   `json:"title,omitempty"`   // of the character
	Version   string   `json:"version,omitempty"` // of the character
	Authors   []string `json:"authors,omitempty"`
	Licence   string   `json:"licence,omitempty"`   // name or address
	Terms     []string `json:"terms,omitempty"`     // other conditions, as "commercialUsage: corporation"
	Copyright string   `json:"copyright,omitempty"` // of the glTF file
}

// String returns the meta data in a line, empty if there are none.
func (m Meta) String() string {
	var out []string
	add := func(what, value string) {
		if value != "" {
			out = append(out, what+value)
		}
	}
	add("", m.Format)
	add("", strings.TrimSpace(m.Title+" "+m.Version))
	add("by ", strings.Join(m.Authors, ", "))
	add("licence ", m.Licence)
	add("", strings.Join(m.Terms, ", "))
	add("copyright ", m.Copyright)
	return strings.Join(out, "; ")
}

// The extensions of VRM.
const (
	vrm0    = "VRM"
	vrm1    = "VRMC_vrm"
	vrmAnim = "VRMC_vrm_animation"
)

// humanoid is what VRM says of a file.
type humanoid struct {
	meta  Meta
	bones map[string]int // VRM's name of a bone → node; nil: the file has no table of bones
	more  []string       // of an animation: what it has besides bones
}

// short returns a text of a file for people: printable and not long.
func short(s string) string {
	return boundedfile.Printable(strings.Join(strings.Fields(fmt.Sprintf("%.200s", s)), " "))
}

// humanoid reads the extensions of VRM, and the copyright.
func (f *file) humanoid() (*humanoid, error) {
	h := &humanoid{meta: Meta{Copyright: short(f.doc.Asset.Copyright)}}
	for _, x := range []struct {
		name string
		read func(h *humanoid, where string, text []byte) error
	}{{vrm1, f.vrm1}, {vrm0, f.vrm0}, {vrmAnim, f.vrmAnimation}} {
		text, ok := f.doc.Extensions[x.name].(json.RawMessage)
		if !ok || h.bones != nil {
			continue
		}
		if err := x.read(h, "extensions."+x.name, text); err != nil {
			return nil, err
		}
	}
	return h, nil
}

// isVRM reports whether a file may have a table of bones.
func (f *file) isVRM() bool {
	for _, x := range []string{vrm0, vrm1, vrmAnim} {
		if _, ok := f.doc.Extensions[x]; ok {
			return true
		}
	}
	return false
}

// bone is a bone of VRM 1.0 and of animations.
type bone struct{ Node *int }

// table reads the bones of VRM 1.0 and of animations.
func (f *file) table(h *humanoid, where string, bones map[string]bone) error {
	for _, name := range slices.Sorted(maps.Keys(bones)) {
		if err := f.setBone(h, fmt.Sprintf("%s.humanoid.humanBones.%.40s", where, name), name, bones[name].Node); err != nil {
			return err
		}
	}
	return nil
}

func (f *file) setBone(h *humanoid, where, name string, node *int) error {
	switch {
	case node == nil:
		return f.errorf(where+".node", "is missing")
	case *node < 0 || *node >= len(f.doc.Nodes):
		return f.errorf(where+".node", "there is no nodes[%d]: there are %d", *node, len(f.doc.Nodes))
	}
	if h.bones == nil {
		h.bones = map[string]int{}
	}
	if _, ok := h.bones[name]; ok {
		return f.errorf(where, "%.40s is there twice", name)
	}
	h.bones[name] = *node
	return nil
}

// decodeVRM decodes an extension of VRM.
func (f *file) decodeVRM(where string, text []byte, into any) error {
	if err := json.Unmarshal(text, into); err != nil {
		return f.errorf(where, "is no table of bones: %.200v", err)
	}
	return nil
}

func (f *file) vrm1(h *humanoid, where string, text []byte) error {
	var x struct {
		Meta     raw
		Humanoid struct{ HumanBones map[string]bone }
	}
	if err := f.decodeVRM(where, text, &x); err != nil {
		return err
	}
	var m struct {
		Name, Version, CopyrightInformation, LicenseURL, OtherLicenseURL, ThirdPartyLicenses string
		Authors                                                                              []string
		AvatarPermission, CommercialUsage, CreditNotation, Modification                      string
		AllowRedistribution                                                                  *bool
	}
	_ = json.Unmarshal(x.Meta, &m) // a character is one without its author's name
	h.meta.Format, h.meta.Title, h.meta.Version = "VRM 1.0", short(m.Name), short(m.Version)
	for _, a := range m.Authors[:min(len(m.Authors), 20)] {
		h.meta.Authors = append(h.meta.Authors, short(a))
	}
	h.meta.Licence = short(m.LicenseURL)
	if m.CopyrightInformation != "" {
		h.meta.Copyright = short(m.CopyrightInformation)
	}
	redistribution := ""
	if m.AllowRedistribution != nil {
		redistribution = fmt.Sprint(*m.AllowRedistribution)
	}
	h.meta.terms("otherLicenseUrl", m.OtherLicenseURL, "thirdPartyLicenses", m.ThirdPartyLicenses, "avatarPermission", m.AvatarPermission,
		"commercialUsage", m.CommercialUsage, "creditNotation", m.CreditNotation, "modification", m.Modification, "allowRedistribution", redistribution)
	return f.table(h, where, x.Humanoid.HumanBones)
}

func (f *file) vrm0(h *humanoid, where string, text []byte) error {
	var x struct {
		Meta     raw
		Humanoid struct {
			HumanBones []struct {
				Bone string
				Node *int
			}
		}
	}
	if err := f.decodeVRM(where, text, &x); err != nil {
		return err
	}
	var m struct {
		Title, Version, Author, LicenseName, OtherLicenseURL, OtherPermissionURL, AllowedUserName string
		CommercialUssageName                                                                      string // as the format spells it
	}
	_ = json.Unmarshal(x.Meta, &m)
	h.meta.Format, h.meta.Title, h.meta.Version, h.meta.Licence = "VRM 0.x", short(m.Title), short(m.Version), short(m.LicenseName)
	if m.Author != "" {
		h.meta.Authors = []string{short(m.Author)}
	}
	h.meta.terms("otherLicenseUrl", m.OtherLicenseURL, "otherPermissionUrl", m.OtherPermissionURL,
		"allowedUserName", m.AllowedUserName, "commercialUssageName", m.CommercialUssageName)
	for i, b := range x.Humanoid.HumanBones {
		if b.Node != nil && *b.Node < 0 {
			continue // not set
		}
		if err := f.setBone(h, fmt.Sprintf("%s.humanoid.humanBones[%d]", where, i), b.Bone, b.Node); err != nil {
			return err
		}
	}
	return nil
}

func (f *file) vrmAnimation(h *humanoid, where string, text []byte) error {
	var x struct {
		Humanoid    struct{ HumanBones map[string]bone }
		Expressions *struct{}
		LookAt      *struct{}
	}
	if err := f.decodeVRM(where, text, &x); err != nil {
		return err
	}
	if x.Expressions != nil {
		h.more = append(h.more, "expressions")
	}
	if x.LookAt != nil {
		h.more = append(h.more, "gaze")
	}
	return f.table(h, where, x.Humanoid.HumanBones)
}

// terms adds conditions that are not empty: pairs of a name and a value.
func (m *Meta) terms(pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		if v := short(pairs[i+1]); v != "" {
			m.Terms = append(m.Terms, pairs[i]+": "+v)
		}
	}
}

// limbs are the joints of one side of the uniform skeleton, and VRM's bones for them: the first one that
// the file has.
var limbs = []struct {
	joint string
	bones []string
}{
	{"UpLeg", []string{"UpperLeg"}}, {"Leg", []string{"LowerLeg"}}, {"Foot", []string{"Foot"}}, {"ToeBase", []string{"Toes"}},
	{"Shoulder", []string{"Shoulder"}}, {"Arm", []string{"UpperArm"}}, {"ForeArm", []string{"LowerArm"}}, {"Hand", []string{"Hand"}},
	{"HandIndex1", []string{"IndexProximal", "MiddleProximal", "RingProximal", "LittleProximal"}},
}

// parts returns the nodes that are joints of the uniform skeleton, by its names. The arms are on the
// highest of spine, chest and upperChest.
func (h *humanoid) parts() map[string]int {
	out := map[string]int{}
	set := func(joint string, bones ...string) {
		for _, b := range bones {
			if n, ok := h.bones[b]; ok {
				out[joint] = n
				return
			}
		}
	}
	set("Hips", "hips")
	set("Neck1", "neck")
	set("Head", "head")
	trunk := []string{"LowerBack", "Spine", "Spine1"}
	for _, b := range []string{"upperChest", "chest", "spine"} {
		if _, ok := h.bones[b]; ok {
			set(trunk[len(trunk)-1], b)
			trunk = trunk[:len(trunk)-1]
		}
	}
	for _, side := range []string{"Left", "Right"} {
		for _, l := range limbs {
			var bones []string
			for _, b := range l.bones {
				bones = append(bones, strings.ToLower(side)+b)
			}
			set(side+l.joint, bones...)
		}
	}
	return out
}
