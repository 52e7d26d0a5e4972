package animsys_test

import (
	"bytes"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"

	"mannequin/animsys"
	"mannequin/animsys/layer"
	"mannequin/animsys/manifold"
	"mannequin/animsys/retarget"
	"mannequin/animsys/skel"
	"mannequin/animsys/skin"
	"mannequin/ecs"
	"mannequin/engine/body"
	"mannequin/engine/m3"
	"mannequin/ik"
	"mannequin/models/person"

	arche "github.com/mlange-42/arche/ecs"
)

// hero writes a character with fingers and an animation to a file, as an artist's program does.
func hero(folder string, sk *skel.Skeleton) string {
	own := &skel.Skeleton{}
	for j, name := range sk.Names {
		own.Names, own.Parents = append(own.Names, name), append(own.Parents, sk.Parents[j])
		own.Offsets, own.EndSite = append(own.Offsets, sk.Offsets[j].Scale(1.2)), append(own.EndSite, sk.EndSite[j])
	}
	grown := get(body.New(&body.Rig{Names: own.Names, Parents: own.Parents, Offsets: own.Offsets}))
	own.Names, own.Parents = append(own.Names, "Thumb"), append(own.Parents, int16(own.Index("RightHand")))
	own.Offsets, own.EndSite = append(own.Offsets, m3.V(-0.03, 0, 0.03)), append(own.EndSite, false)
	thumb := grown.Bind[own.Index("RightHand")]
	thumb.Pos = thumb.Pos.Add(m3.V(-0.03, 0, 0.03))
	grown.Bind = append(grown.Bind, thumb)

	var file bytes.Buffer
	if err := skin.Write(&file, own, grown, [3]float32{0.2, 0.3, 0.5}, nil); err != nil {
		log.Fatal(err)
	}
	salute := skel.NewClip(own, 30, 61)
	for f := range salute.Frames {
		pos, rot := salute.Frame(f)
		pos[0] = grown.Bind[0].Pos
		rot[own.Index("RightArm")] = m3.AxisAngle(m3.V(0, 0, 1), 0.9*m3.Sin(math.Pi*float32(f)/60))
		rot[own.Index("Thumb")] = m3.AxisAngle(m3.Up, 1)
	}
	data, _, err := skin.AppendMotions("hero.glb", file.Bytes(), []skin.Motion{{Name: "salute", Clip: salute}}, skin.AddOptions{})
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(folder, "hero.glb")
	if err := os.WriteFile(path, data, 0o644); err != nil {
		log.Fatal(err)
	}
	return path
}

// A character plays an animation of its own file, which also moves a thumb that people of the network lack.
func Example_ownClips() {
	networks := get(person.Open())
	folder := get(os.MkdirTemp("", "hero"))
	defer os.RemoveAll(folder)
	path := hero(folder, networks.Skel)

	// When the game starts:
	ch := get(get(skin.Open(path)).Character(networks.Skel, skin.CharacterOptions{}))
	clips := map[string]*layer.Clip{}
	for _, m := range get(skin.OpenMotions(path)) {
		clips[m.Name] = get(layer.NewOwn(ch.Bones, get(ch.Motion(&m)), layer.ClipOptions{Name: m.Name}))
	}

	world := arche.NewWorld()
	stream := get(networks.NewStream(manifold.StreamOptions{Capacity: 1}))
	people := get(animsys.NewCrowd(&world, stream, animsys.Options{Ground: ik.Level(0), Characters: []*retarget.Character{ch.Bones}}))
	defer people.Close()
	schedule := get(ecs.NewSchedule(&world, 1.0/animsys.TickRate, animsys.Systems()...))
	agent := get(people.Spawn(m3.V(0, 0, 0), 0))
	if err := people.SetCharacter(agent, ch.Bones); err != nil {
		fmt.Println(err)
	}
	run(schedule, 60)
	if err := people.Play(agent, clips["salute"], layer.PlayOptions{}); err != nil {
		fmt.Println(err)
	}
	run(schedule, 60)
	bones, hand, thumb := people.Bones(agent), ch.Bones.Skel.Index("RightHand"), ch.Bones.Skel.Index("Thumb")
	fmt.Printf("the thumb is turned by %.2f\n", bones[hand].Rot.Angle(bones[thumb].Rot))
	// Output: the thumb is turned by 1.00
}
