package mocap

import (
	"bytes"
	"encoding/binary"
	"path"
	"slices"
	"strings"
)

// Advice for files that an export as FBX, glTF or BVH alone does not mend.
const (
	markers = "markers have no skeleton: solve them onto one in the capture software, and export BVH or FBX"
	noBones = "it has no joints: bind it to an armature, and export glTF or FBX"
	unzip   = "unpack it first"
	picture = "name the file of the character or motion"
	blender = "open it in Blender, and export glTF"
)

// foreign are formats that are not read, by the bytes that files begin with.
var foreign = []struct{ magic, what, advice string }{
	{"PXR-USDC", "a USD scene", blender},
	{"#usda", "a USD scene", blender},
	{"BLENDER", "a Blender project", blender},
	{"\x1f\x8b", "compressed", "unpack it first; a Blender project is to be exported as glTF"},
	{"\x28\xb5\x2f\xfd", "compressed", "unpack it first; a Blender project is to be exported as glTF"},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive", unzip},
	{"Rar!", "a RAR archive", unzip},
	{"//Maya ASCII", "a Maya scene", "export it as FBX, with baked animation"},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a 3ds Max scene", "export it as FBX, with baked animation"},
	{"PathFileType", "a TRC file of markers", markers},
	{"INTERQUAKEMODEL", "an IQM model", ""},
	{"MD5Version", "an MD5 model", ""},
	{"3DMO", "an M3D model", ""},
	{"PMX ", "a MikuMikuDance model", ""},
	{"Pmd", "a MikuMikuDance model", ""},
	{"Vocaloid Motion Data", "a MikuMikuDance motion", ""},
	{"ACTRHEAD", "an Unreal PSK model", "export it from Unreal as FBX or glTF"},
	{"ANIMHEAD", "an Unreal PSA animation", "export it from Unreal as FBX or glTF"},
	{"\xc1\x83\x2a\x9e", "an Unreal asset", "export it from Unreal as FBX or glTF"},
	{"xof ", "a DirectX model", ""},
	{"solid ", "an STL mesh", noBones},
	{"ply\n", "a PLY mesh", noBones},
	{"ply\r", "a PLY mesh", noBones},
	{"Pmx ", "a MikuMikuDance model", ""},
	{"Ogawa\xff", "an Alembic cache", "it has no joints: export FBX or glTF from the scene that it is from"},
	{"\x89HDF\r\n\x1a\n", "an HDF5 file, as old Alembic caches are", "export FBX or glTF from the scene that it is from"},
	{"\x93NUMPY", "a NumPy array", "write the motion as BVH"},
	{"IDP2", "an MD2 model", noBones},
	{"IDP3", "an MD3 model", noBones},
	{"IDST", "a Valve MDL model", ""},
	{"\x89PNG\r\n", "a picture", picture},
	{"\xff\xd8\xff", "a picture", picture},
	{"%PDF", "a PDF document", ""},
	{"#Hierarchical Translation", "an HTR file", "convert it to BVH or FBX"},
	{"%YAML 1.1\n%TAG !u! tag:unity3d", "a Unity asset", "export it from Unity as FBX or glTF"},
	{"[gd_scene", "a Godot scene", "export it from Godot as glTF"},
	{"[gd_resource", "a Godot resource", "export it from Godot as glTF"},
	{"version https://git-lfs", "a pointer to a file in Git LFS", "fetch the file itself with git lfs pull"},
	{"\xff\xfe", "text in UTF-16", "save it as UTF-8"},
	{"\xfe\xff", "text in UTF-16", "save it as UTF-8"},
}

// Foreign returns what a file in a format that is not read is, by its first bytes, or "". advice is what to
// do with it; empty is to export it as a format that is read.
func Foreign(data []byte) (what, advice string) {
	for _, f := range foreign {
		if bytes.HasPrefix(data, []byte(f.magic)) {
			return f.what, f.advice
		}
	}
	text := bytes.TrimLeft(data[:min(len(data), 4096)], "\xef\xbb\xbf \t\r\n")
	switch {
	case bytes.HasPrefix(data, []byte("PK\x03\x04")):
		if strings.HasPrefix(path.Ext(firstInZIP(data)), ".usd") {
			return "a USDZ scene", blender
		}
		return "a ZIP archive, as USDZ files are", unzip
	case isMayaBinary(data):
		return "a Maya scene", "export it as FBX, with baked animation"
	case len(data) >= 4 && data[1] == 0x50 && data[0] >= 2 && data[0] < ' ':
		return "a C3D file of markers", markers
	case len(data) >= 6 && data[0] == 'M' && data[1] == 'M' && data[2]|data[3] != 0 && data[5] < 0x10: // a chunk of less than 256 MB
		return "a 3ds scene", noBones
	case bytes.HasPrefix(text, []byte("<")) && bytes.Contains(text, []byte("COLLADA")):
		return "a COLLADA scene", ""
	case bytes.HasPrefix(bytes.ToLower(text[:min(len(text), 16)]), []byte("<!doctype html")) || bytes.HasPrefix(bytes.ToLower(text[:min(len(text), 16)]), []byte("<html")):
		return "a page of the web", "download the file itself, and not the page that shows it"
	case isSMD(text):
		return "a Valve SMD", ""
	case isOBJ(text):
		return "an OBJ mesh", noBones
	}
	return "", ""
}

// firstInZIP returns the name of the first file in an archive.
func firstInZIP(data []byte) string {
	const header = 30
	if len(data) < header {
		return ""
	}
	n := int(binary.LittleEndian.Uint16(data[26:]))
	return strings.ToLower(string(data[header:min(len(data), header+n)]))
}

// isMayaBinary reports whether data is of Maya's IFF files, with sizes of 4 or 8 bytes.
func isMayaBinary(data []byte) bool {
	return len(data) >= 20 && (string(data[:4]) == "FOR4" && string(data[8:12]) == "Maya" || string(data[:4]) == "FOR8" && string(data[16:20]) == "Maya")
}

func isSMD(text []byte) bool {
	f := bytes.Fields(text[:min(len(text), 64)])
	return len(f) >= 3 && string(f[0]) == "version" && len(f[1]) == 1 && string(f[2]) == "nodes"
}

// isOBJ reports whether the first line of a text that is no comment is one of an OBJ.
func isOBJ(text []byte) bool {
	for line := range bytes.Lines(text) {
		f := bytes.Fields(line)
		if len(f) == 0 || f[0][0] == '#' {
			continue
		}
		word := string(f[0])
		return word == "v" && len(f) >= 4 || len(f) >= 2 && slices.Contains([]string{"mtllib", "usemtl", "o", "g", "vn", "vt"}, word)
	}
	return false
}
