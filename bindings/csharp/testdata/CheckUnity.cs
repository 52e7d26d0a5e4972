// What csharp_test.go checks of MannequinCrowd.cs, with testdata/UnityEngine.cs in the place of Unity.

using System;
using System.IO;
using Mannequin;
using UnityEngine;

static class CheckUnity
{
    static void Main(string[] args)
    {
        var crowd = new MannequinCrowd { model = new TextAsset { bytes = File.ReadAllBytes(args[0]) }, capacity = 10 };
        crowd.Call("Awake");
        var dogs = new MannequinCrowd.Agent[10];
        for (int i = 0; i < 9; i++)
            dogs[i] = crowd.Add(new Vector3(1.5f * i, 0, 0), 0);
        // The last has an object of the game's, with a controller and joints that lie as a mesh has them.
        MonoBehaviour.instantiate = prefab =>
        {
            var o = new GameObject("dog of the game");
            var hips = new GameObject("Hips").transform;
            hips.SetParent(o.transform, false);
            o.component = new CharacterController { gameObject = o, wall = 1 };
            return o;
        };
        crowd.prefab = new GameObject("prefab");
        dogs[9] = crowd.Add(new Vector3(13.5f, 0, 0), 0);
        for (int i = 0; i < 10; i++)
            crowd.Steer(dogs[i], new Vector3(0, 0, 1), 1);
        crowd.GoTo(dogs[1], new Vector3(1.5f, 0, 2), 0.5f, 1);
        crowd.Act(dogs[2], "sit");
        Time.deltaTime = 1 / 60f;
        for (int frame = 0; frame < 300; frame++)
            crowd.Call("Update");

        var model = new Model(crowd.model.bytes);
        var bones = new Bone[10 * model.Joints];
        crowd.Crowd.GetBones(bones, 0, Relative.World); // alpha is 0 after whole ticks
        double worst = 0;
        for (int i = 0; i < 10; i++)
            for (int j = 0; j < model.Joints; j++)
            {
                Vector3 at = Find(dogs[i].Instance.transform, model.GetJoint(j, Space.Of(Engine.Unity)).Name).position;
                Vec3 want = bones[i * model.Joints + j].Position;
                worst = Math.Max(worst, Math.Abs(at.x - want.X) + Math.Abs(at.y - want.Y) + Math.Abs(at.z - want.Z));
            }
        Console.WriteLine(FormattableString.Invariant($"unity-worst {worst}"));
        Console.WriteLine(FormattableString.Invariant($"unity-z {dogs[0].Instance.transform.position.z}"));
        Console.WriteLine(FormattableString.Invariant($"unity-place {dogs[1].Instance.transform.position.z}"));
        Console.WriteLine(FormattableString.Invariant($"unity-sit {Find(dogs[2].Instance.transform, "Hips").position.y}"));
        Console.WriteLine(FormattableString.Invariant($"unity-stand {Find(dogs[0].Instance.transform, "Hips").position.y}"));
        Console.WriteLine(FormattableString.Invariant($"unity-wall {Find(dogs[9].Instance.transform, "Hips").position.z}"));
        crowd.Remove(dogs[0]);
        crowd.Call("Update");
        crowd.Call("OnDestroy");
        Console.WriteLine("unity-end True");
    }

    static Transform Find(Transform at, string name)
    {
        if (at.name == name)
            return at;
        for (int i = 0; i < at.childCount; i++)
        {
            Transform found = Find(at.GetChild(i), name);
            if (found != null)
                return found;
        }
        return null;
    }
}
