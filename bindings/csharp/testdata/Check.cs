// What csharp_test.go checks of Mannequin.cs. Each line that it prints is a name and a value.

using System;
using System.IO;
using System.Linq;
using System.Runtime.InteropServices;
using System.Threading;
using Mannequin;

static class Check
{
    static byte[] file;
    static Model model;
    static readonly Space unity = Space.Of(Engine.Unity);

    static void Say(string name, object value)
    {
        Console.WriteLine(FormattableString.Invariant($"{name} {value}"));
    }

    static void Main(string[] args)
    {
        file = File.ReadAllBytes(args[0]);
        Sizes();
        try { new Model(new byte[3]); }
        catch (MannequinException e) { Say("bad-code", e.Code); Say("bad-text", e.Message.Length); }
        model = new Model(file);
        Say("joints", model.Joints);
        try { model.FindAction("fly"); }
        catch (MannequinException e) { Say("action-text", e.Message.Contains("fly")); }
        Walk();
        Moves();
        Saves();
        Ground();
        Threads();
        Signals();
        model.Dispose();
        Say("end", true);
    }

    static void Sizes()
    {
        foreach (var type in new[] { typeof(Vec3), typeof(Quat), typeof(Space), typeof(Goal), typeof(AgentId), typeof(Root), typeof(Move), typeof(Event), typeof(Obstacle), typeof(Native.ModelInfo),
                     typeof(Native.JointInfo), typeof(Native.WorldDef), typeof(Native.CrowdDef), typeof(Native.AgentDef), typeof(Native.BoneLayout) })
            Say("size-" + type.Name, Marshal.SizeOf(type));
    }

    static void Walk()
    {
        using (var world = new World(unity))
        {
            var crowd = new Crowd(world, model, 3);
            var ahead = crowd.Add(new Vec3(0, 0, 0), 0);
            var right = crowd.Add(new Vec3(10, 0, 0), (float)Math.PI / 2);
            var turning = crowd.Add(new Vec3(-10, 0, 0), 0);
            var walk = new Goal { Move = new Vec3(0, 0, 1), Speed = 1 };
            crowd.SetGoals(new[] { walk, walk }, 2);
            walk.Turn = 0.5f;
            crowd.SetGoal(turning, walk);
            var bones = new Bone[3 * model.Joints];
            var roots = new Root[3];
            var events = new Event[1000];
            int left = model.FindJoint("LeftArm"), other = model.FindJoint("RightArm"), steps = 0;
            float least = 9, most = -9, stretch = 0, turned = 0, moved = 0, sole = 0;
            for (int frame = 0; frame < 300; frame++)
            {
                float alpha = world.Step(1 / 60.0);
                crowd.GetRoots(roots, alpha);
                turned += roots[2].Turned;
                moved += roots[0].Moved.Z;
                for (int i = 0, n = crowd.GetEvents(events); i < n; i++)
                    if (events[i].Kind == EventKind.FootDown)
                    {
                        steps++;
                        sole = Math.Max(sole, Math.Abs(events[i].Position.Y));
                    }
                crowd.GetBones(bones, alpha, Relative.Local);
                for (int j = 1; j < model.Joints; j++)
                {
                    Vec3 rest = model.GetJoint(j, unity).Offset, p = bones[j].Position;
                    stretch = Math.Max(stretch, Math.Abs(p.X - rest.X) + Math.Abs(p.Y - rest.Y) + Math.Abs(p.Z - rest.Z));
                }
                crowd.GetBones(bones, alpha, Relative.World);
                float low = bones.Take(model.Joints).Min(b => b.Position.Y);
                least = Math.Min(least, low);
                most = Math.Max(most, low);
            }
            Say("ahead-x", roots[crowd.GetRow(ahead)].Position.X);
            Say("ahead-z", roots[0].Position.Z);
            Say("moved-z", moved);
            Say("right-x", roots[crowd.GetRow(right)].Position.X - 10);
            Say("right-z", roots[1].Position.Z);
            Say("turned", turned);
            Say("left-arm", bones[other].Position.X - bones[left].Position.X);
            Say("lowest", least);
            Say("highest-of-lowest", most);
            Say("stretch", stretch);
            Say("steps", steps);
            Say("sole", sole);
            crowd.Remove(ahead);
            try { crowd.GetRow(ahead); }
            catch (MannequinException e) { Say("removed-code", e.Code); }
        }
    }

    // A character controller that lets nobody past z = 1.
    static void Moves()
    {
        using (var world = new World(unity))
        {
            var crowd = new Crowd(world, model, 2);
            var dog = crowd.Add(new Vec3(), 0);
            crowd.SetGoal(dog, new Goal { Kind = GoalKind.Stick, Move = new Vec3(0, 0, 1), Speed = 1 });
            bool same = true;
            world.SetMove(m =>
            {
                same &= m.Agent.Equals(dog);
                GC.Collect();
                return new Vec3(m.After.X, m.After.Y, Math.Min(m.After.Z, 1));
            });
            var roots = new Root[2];
            for (int i = 0; i < 240; i++)
                world.Step(1 / 60.0);
            crowd.GetRoots(roots, 1);
            Say("wall-z", roots[0].Position.Z);
            Say("wall-agent", same);
            world.SetMove(m => { throw new ApplicationException("of the game"); });
            try { world.Step(1 / 60.0); }
            catch (InvalidOperationException e) { Say("thrown", e.InnerException.Message); }
            world.SetMove(null);
            for (int i = 0; i < 60; i++)
                world.Step(1 / 60.0);
            crowd.GetRoots(roots, 1);
            Say("free-z", roots[0].Position.Z);
        }
    }

    static ulong Run(World world, Crowd crowd, int frames)
    {
        for (int i = 0; i < frames; i++)
            world.Step(1 / 60.0);
        return crowd.GetHash();
    }

    static Crowd Herd(World world)
    {
        var crowd = new Crowd(world, model, 8);
        for (int i = 0; i < 8; i++)
            crowd.SetGoal(crowd.Add(new Vec3(i, 0, 0), i), new Goal { Move = new Vec3(0, 0, 1), Speed = 1 + 0.2f * i });
        return crowd;
    }

    static void Saves()
    {
        using (World a = new World(unity), b = new World(unity))
        {
            Crowd one = Herd(a), two = Herd(b);
            Run(a, one, 100);
            byte[] saved = a.Save();
            ulong want = Run(a, one, 100);
            b.Restore(saved);
            Say("restored", two.GetHash() != want && Run(b, two, 100) == want);
        }
    }

    static void Ground()
    {
        using (var world = new World(unity))
        {
            // As Unity's quads: clockwise seen from above.
            world.SetGroundMesh(new[] { new Vec3(-9, 1, -9), new Vec3(-9, 1, 9), new Vec3(9, 3, 9), new Vec3(9, 3, -9) }, new[] { 0, 1, 2, 0, 2, 3 });
            var crowd = new Crowd(world, model, 1);
            crowd.Add(new Vec3(0, 5, 0), 0);
            Run(world, crowd, 10);
            var roots = new Root[1];
            crowd.GetRoots(roots, 1);
            Say("ground-y", roots[0].Position.Y);
        }
    }

    // Worlds in threads of their own come to the same while memory is collected, which stops threads in the middle of calls, also of
    // their first.
    static void Threads()
    {
        var hashes = new ulong[8];
        for (int round = 0; round < 20; round++)
        {
            var threads = hashes.Select((_, i) => new Thread(() =>
            {
                using (var world = new World(unity))
                    hashes[i] = Run(world, Herd(world), 10);
            })).ToArray();
            foreach (var t in threads)
                t.Start();
            while (threads.Any(t => t.IsAlive))
                GC.Collect();
            if (hashes.Distinct().Count() != 1 || hashes[0] == 0)
                Say("threads-differ", round);
        }
        Say("threads-end", true);
    }

    // The runtime's own signals still become exceptions.
    static void Signals()
    {
        int caught = 0, zero = file.Length > 0 ? 0 : 1;
        string none = null;
        using (var world = new World(unity))
        {
            Herd(world);
            for (int i = 0; i < 100; i++)
            {
                world.Step(1 / 60.0);
                try { Say("never", none.Length); }
                catch (NullReferenceException) { caught++; }
                try { Say("never", i / zero); }
                catch (DivideByZeroException) { caught++; }
            }
        }
        Say("caught", caught);
    }
}
