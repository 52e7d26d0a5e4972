// Ten dogs walk for five seconds. mcs Mannequin.cs Dogs.cs && mono Dogs.exe dog-free.safetensors

using System;
using System.IO;
using Mannequin;

static class Dogs
{
    const int Count = 10;

    static void Main(string[] args)
    {
        using (var model = new Model(File.ReadAllBytes(args[0])))
        using (var world = new World(Space.Of(Engine.Unity)))
        {
            var crowd = new Crowd(world, model, Count);
            for (int i = 0; i < Count; i++)
            {
                AgentId dog = crowd.Add(new Vec3(1.2f * i, 0, 0), 0);
                crowd.SetGoal(dog, new Goal { Kind = GoalKind.Stick, Move = new Vec3(0, 0, 1), Speed = 1 + 0.1f * i });
            }
            var bones = new Bone[Count * model.Joints];
            var roots = new Root[Count];
            int head = model.FindJoint("Head");
            for (int frame = 1; frame <= 500; frame++) // of a screen with 100 Hz
            {
                float alpha = world.Step(0.01);
                crowd.GetBones(bones, alpha, Relative.World);
                crowd.GetRoots(roots, alpha);
                if (frame % 100 == 0)
                    Console.WriteLine($"after {frame / 100} s the first dog stands at {roots[0].Position}, its head is at {bones[head].Position}");
            }
        }
    }
}
