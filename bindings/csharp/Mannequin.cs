// The C library mannequin for C#: .NET, Mono and Unity. mannequin.h says what each function does; docs/engines.md how to use this.
//
// The native library is mannequin.dll, libmannequin.so or libmannequin.dylib: in Unity, put it into Assets/Plugins.
// Every error of the library is a MannequinException.

using System;
using System.Runtime.InteropServices;
using System.Text;

namespace Mannequin
{
    public struct Vec3
    {
        public float X, Y, Z;
        public Vec3(float x, float y, float z) { X = x; Y = y; Z = z; }
        public override string ToString() => $"({X:0.00}, {Y:0.00}, {Z:0.00})";
#if UNITY_5_3_OR_NEWER
        public static implicit operator UnityEngine.Vector3(Vec3 v) => new UnityEngine.Vector3(v.X, v.Y, v.Z);
        public static implicit operator Vec3(UnityEngine.Vector3 v) => new Vec3(v.x, v.y, v.z);
#endif
    }

    public struct Quat
    {
        public float X, Y, Z, W;
#if UNITY_5_3_OR_NEWER
        public static implicit operator UnityEngine.Quaternion(Quat q) => new UnityEngine.Quaternion(q.X, q.Y, q.Z, q.W);
#endif
    }

    public enum Engine { None, Unity, Unreal, Godot, Blender }
    public enum Relative { World, Root, Local }
    public enum GoalKind { Direction, Stick, Place }
    public enum EventKind { FootDown, FootUp, ClipMarker, ClipEnd, HandThere, FootThere, HandMissed }

    // Axes and units: Space.Of(Engine.Unity) is +X right, +Y up, +Z forward, left-handed.
    public struct Space
    {
        public int Right, Up, Forward;
        public float Units;

        public static Space Of(Engine engine)
        {
            Native.Enter();
            return Native.mqGetSpace((int)engine);
        }
    }

    public struct Bone
    {
        public Vec3 Position;
        public Quat Rotation;
    }

    public struct Goal
    {
        public GoalKind Kind;
        public int Action; // 0, or of Model.FindAction
        public Vec3 Move, Face, Place;
        public float Radius, Speed, Turn;
    }

    public struct AgentId : IEquatable<AgentId>
    {
        public uint Index1, Generation;
        public bool Equals(AgentId other) => Index1 == other.Index1 && Generation == other.Generation;
        public override bool Equals(object other) => other is AgentId && Equals((AgentId)other);
        public override int GetHashCode() => (int)(Index1 * 31 + Generation);
    }

    public struct Root
    {
        public AgentId Agent;
        public Vec3 Position;
        public float Heading;
        public Vec3 Moved;
        public float Turned;
    }

    public struct Move
    {
        public AgentId Agent;
        public Vec3 Before, After;
    }

    public struct Event
    {
        public AgentId Agent;
        public EventKind Kind;
        public int Tick, Leg, Joint, Layer, Marker;
        public Id Clip;
        public Vec3 Position, Normal;
        public float Speed;
    }

    public struct Obstacle
    {
        public Vec3 Position;
        public float Heading, Width, Depth, Rounding, Low, High;
    }

    // The id of a model, a clip, a world or a crowd.
    public struct Id
    {
        public uint Index1, Generation;
    }

    public struct Joint
    {
        public string Name;
        public int Parent; // -1 for the first
        public Vec3 Offset;
    }

    public class MannequinException : Exception
    {
        public readonly int Code; // an mq_error of mannequin.h
        public MannequinException(int code, string text) : base(text) { Code = code; }

        // Throws if a call has failed.
        internal static void Check(int result)
        {
            if (result == 0)
                return;
            var text = new byte[4096];
            int length = Math.Min(Native.mqGetLastError(text, text.Length), text.Length - 1);
            throw new MannequinException(result, Encoding.UTF8.GetString(text, 0, length));
        }
    }

    // What moves, from the bytes of a file. Crowds keep it after Dispose.
    public sealed class Model : IDisposable
    {
        internal Id id;

        public readonly string Name, License;
        public readonly int Joints, Legs;
        public readonly float TopSpeed;

        public Model(byte[] file)
        {
            Native.Enter();
            MannequinException.Check(Native.mqCreateModel(file, (UIntPtr)file.Length, out id));
            Native.ModelInfo info;
            MannequinException.Check(Native.mqModel_GetInfo(Native.Of(id), out info));
            Name = Native.Text(info.Name);
            License = Native.Text(info.License);
            Joints = info.Joints;
            Legs = info.Legs;
            TopSpeed = info.TopSpeed;
        }

        public Joint GetJoint(int index, Space space)
        {
            Native.JointInfo joint;
            MannequinException.Check(Native.mqModel_GetJoint(Native.Of(id), index, ref space, out joint));
            return new Joint { Name = Native.Text(joint.Name), Parent = joint.Parent, Offset = joint.Offset };
        }

        public int FindJoint(string name)
        {
            int index;
            MannequinException.Check(Native.mqModel_FindJoint(Native.Of(id), Native.Bytes(name), out index));
            return index;
        }

        public int FindAction(string name)
        {
            int action;
            MannequinException.Check(Native.mqModel_FindAction(Native.Of(id), Native.Bytes(name), out action));
            return action;
        }

        public void Dispose()
        {
            if (id.Index1 != 0)
                Native.mqDestroyModel(Native.Of(id));
            id = new Id();
        }
    }

    // Decides where an agent goes that would go from move.Before to move.After.
    public delegate Vec3 MoveAgent(Move move);

    // Agents with their ground and time. It is for one thread at a time.
    public sealed class World : IDisposable
    {
        internal Id id;
        GCHandle self; // what the library calls back with
        MoveAgent move;
        Exception thrown; // by move; it must not cross the library

        public World(Space space, float groundHeight = 0)
        {
            Native.Enter();
            Native.WorldDef def = Native.mqDefaultWorldDef();
            def.Space = space;
            def.GroundHeight = groundHeight;
            MannequinException.Check(Native.mqCreateWorld(ref def, out id));
        }

        // Moves on by the time of a frame, and returns the alpha of Crowd.GetBones and GetRoots.
        public float Step(double seconds)
        {
            int ticks;
            float alpha;
            int result = Native.mqWorld_Step(Native.Of(id), seconds, out ticks, out alpha);
            Exception e = thrown;
            thrown = null;
            if (e != null)
                throw new InvalidOperationException("the move callback failed", e);
            MannequinException.Check(result);
            return alpha;
        }

        public void SetGroundLevel(float height) { MannequinException.Check(Native.mqWorld_SetGroundLevel(Native.Of(id), height)); }

        // Three indices a triangle, as in Unity's meshes if the space is Unity's.
        public void SetGroundMesh(Vec3[] vertices, int[] indices)
        {
            MannequinException.Check(Native.mqWorld_SetGroundMesh(Native.Of(id), vertices, vertices.Length, indices, indices.Length));
        }

        public void SetObstacles(Obstacle[] obstacles)
        {
            MannequinException.Check(Native.mqWorld_SetObstacles(Native.Of(id), obstacles, obstacles.Length));
        }

        // Lets a character controller decide how far agents go. It is called within Step, on its thread, and must not use the world.
        public void SetMove(MoveAgent decide)
        {
            if (decide != null && !self.IsAllocated)
                self = GCHandle.Alloc(this);
            IntPtr context = self.IsAllocated ? GCHandle.ToIntPtr(self) : IntPtr.Zero;
            MannequinException.Check(Native.mqWorld_SetMoveCallback(Native.Of(id), decide == null ? null : onMove, context));
            move = decide;
        }

        static readonly Native.MoveCallback onMove = OnMove;

#if UNITY_5_3_OR_NEWER
        [AOT.MonoPInvokeCallback(typeof(Native.MoveCallback))]
#endif
        static void OnMove(Id crowd, IntPtr moves, int count, IntPtr context)
        {
            var world = (World)GCHandle.FromIntPtr(context).Target;
            try
            {
                int size = Marshal.SizeOf(typeof(Move));
                for (int i = 0; i < count; i++)
                {
                    IntPtr at = new IntPtr(moves.ToInt64() + (long)i * size);
                    var m = (Move)Marshal.PtrToStructure(at, typeof(Move));
                    m.After = world.move(m);
                    Marshal.StructureToPtr(m, at, false);
                }
            }
            catch (Exception e)
            {
                world.thrown = e;
            }
        }

        public byte[] Save()
        {
            UIntPtr size;
            int result = Native.mqWorld_Save(Native.Of(id), null, UIntPtr.Zero, out size);
            if (result != Native.ErrorSize)
                MannequinException.Check(result);
            var bytes = new byte[(int)size];
            MannequinException.Check(Native.mqWorld_Save(Native.Of(id), bytes, size, out size));
            return bytes;
        }

        // The world has as many crowds as the saved one, made in the same order, with the same models and capacities.
        public void Restore(byte[] bytes)
        {
            MannequinException.Check(Native.mqWorld_Restore(Native.Of(id), bytes, (UIntPtr)bytes.Length));
        }

        // Ends the world with its crowds and agents.
        public void Dispose()
        {
            if (id.Index1 != 0)
                MannequinException.Check(Native.mqDestroyWorld(Native.Of(id)));
            id = new Id();
            if (self.IsAllocated)
                self.Free();
        }
    }

    // Agents of one model in a world. They are in rows; rows change when agents are removed.
    public sealed class Crowd
    {
        readonly Id id;
        const int BoneSize = 28; // 7 floats, as the default layout has them
        public readonly Model Model;
        public readonly int Capacity;

        public Crowd(World world, Model model, int capacity, int workers = 0)
        {
            Native.Enter();
            Native.CrowdDef def = Native.mqDefaultCrowdDef();
            def.Model = model.id;
            def.Capacity = capacity;
            def.Workers = workers;
            MannequinException.Check(Native.mqCreateCrowd(world.id, ref def, out id));
            Model = model;
            Capacity = capacity;
        }

        public AgentId Add(Vec3 position, float heading)
        {
            Native.Enter();
            Native.AgentDef def = Native.mqDefaultAgentDef();
            def.Position = position;
            def.Heading = heading;
            AgentId agent;
            MannequinException.Check(Native.mqCreateAgent(Native.Of(id), ref def, out agent));
            return agent;
        }

        public void Remove(AgentId agent) { MannequinException.Check(Native.mqDestroyAgent(Native.Of(agent))); }
        public void SetGoal(AgentId agent, Goal goal) { MannequinException.Check(Native.mqAgent_SetGoal(Native.Of(agent), ref goal)); }
        public void SetPlace(AgentId agent, Vec3 position, float heading) { MannequinException.Check(Native.mqAgent_SetPlace(Native.Of(agent), position, heading)); }
        public void SetLookAt(AgentId agent, Vec3 target, float weight) { MannequinException.Check(Native.mqAgent_SetLookAt(Native.Of(agent), target, weight)); }

        // Sets the goals of the first agents, by row.
        public void SetGoals(Goal[] goals, int count) { MannequinException.Check(Native.mqCrowd_SetGoals(Native.Of(id), goals, Bounded(count, goals.Length), 0)); }

        public int GetRow(AgentId agent)
        {
            int row;
            MannequinException.Check(Native.mqAgent_GetRow(Native.Of(agent), out row));
            return row;
        }

        // Writes the bones of all agents, by row: those of row r from r * Model.Joints on. It returns the number of agents.
        public int GetBones(Bone[] bones, float alpha, Relative relativeTo)
        {
            Native.Enter();
            Native.BoneLayout layout = Native.mqDefaultBoneLayout();
            layout.RelativeTo = (int)relativeTo;
            int agents;
            MannequinException.Check(Native.mqCrowd_GetBones(Native.Of(id), ref layout, alpha, bones, (UIntPtr)((ulong)bones.Length * BoneSize), out agents));
            return agents;
        }

        // Writes the roots by row, as many as there is room for, and returns the number of all.
        public int GetRoots(Root[] roots, float alpha)
        {
            int count;
            MannequinException.Check(Native.mqCrowd_GetRoots(Native.Of(id), alpha, roots, 0, roots.Length, out count));
            return count;
        }

        // Writes what happened in the last Step, as much as there is room for, and returns the number of all.
        public int GetEvents(Event[] events)
        {
            int count;
            MannequinException.Check(Native.mqCrowd_GetEvents(Native.Of(id), events, events.Length, out count));
            return count;
        }

        public ulong GetHash()
        {
            ulong hash;
            MannequinException.Check(Native.mqCrowd_GetHash(Native.Of(id), out hash));
            return hash;
        }

        static int Bounded(int count, int length)
        {
            if (count > length)
                throw new ArgumentException($"{count} of an array of {length}");
            return count;
        }
    }

    // The functions and structs of mannequin.h. Arrays of structs without references are passed as they lie in memory.
    static class Native
    {
#if UNITY_IOS && !UNITY_EDITOR
        const string Library = "__Internal";
#else
        const string Library = "mannequin";
#endif
        public const int ErrorSize = 4;
        const int NameSize = 64;

        public struct Version
        {
            public int Major, Minor, Revision;
        }

        public struct ModelInfo
        {
            public int Kind, Joints, Legs;
            public float TopSpeed;
            [MarshalAs(UnmanagedType.ByValArray, SizeConst = NameSize)] public byte[] Name;
            [MarshalAs(UnmanagedType.ByValArray, SizeConst = NameSize)] public byte[] License;
        }

        public struct JointInfo
        {
            [MarshalAs(UnmanagedType.ByValArray, SizeConst = NameSize)] public byte[] Name;
            public int Parent;
            public Vec3 Offset;
        }

        public struct WorldDef
        {
            public uint Cookie;
            public Space Space;
            public float GroundHeight;
            public int MaxTicks;
        }

        public struct CrowdDef
        {
            public uint Cookie;
            public Id Model, Every2, Every4;
            public int Capacity, Workers;
        }

        public struct AgentDef
        {
            public uint Cookie;
            public Vec3 Position;
            public float Heading;
        }

        public struct BoneLayout
        {
            public uint Cookie;
            public int RelativeTo, Format, BoneStride, AgentStride, PositionOffset, RotationOffset, RealFirst;
        }

        [UnmanagedFunctionPointer(CallingConvention.Cdecl)]
        public delegate void MoveCallback(Id crowd, IntPtr moves, int count, IntPtr context);

        static readonly object first = new object();
        [ThreadStatic] static bool entered;

        // Begins what calls the library. A thread's first call can wait for that of another thread, with signals blocked. Mono stops
        // threads by signals to collect memory, and would wait forever for the first when it has stopped the other: first calls
        // come one by one.
        public static void Enter()
        {
            if (entered)
                return;
            lock (first)
                mqGetVersion();
            entered = true;
        }

        // Enters for what an id is of.
        public static Id Of(Id id)
        {
            Enter();
            return id;
        }

        public static AgentId Of(AgentId agent)
        {
            Enter();
            return agent;
        }

        // A text of C is UTF-8 and ends with a 0.
        public static byte[] Bytes(string text) => Encoding.UTF8.GetBytes(text + "\0");

        public static string Text(byte[] bytes)
        {
            int end = Array.IndexOf<byte>(bytes, 0);
            return Encoding.UTF8.GetString(bytes, 0, end < 0 ? bytes.Length : end);
        }

        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] static extern Version mqGetVersion();
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqGetLastError([Out] byte[] text, int capacity);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern Space mqGetSpace(int engine);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern WorldDef mqDefaultWorldDef();
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern CrowdDef mqDefaultCrowdDef();
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern AgentDef mqDefaultAgentDef();
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern BoneLayout mqDefaultBoneLayout();
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqCreateModel(byte[] bytes, UIntPtr size, out Id model);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqDestroyModel(Id model);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqModel_GetInfo(Id model, out ModelInfo info);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqModel_GetJoint(Id model, int index, ref Space space, out JointInfo joint);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqModel_FindJoint(Id model, byte[] name, out int index);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqModel_FindAction(Id model, byte[] name, out int action);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqCreateWorld(ref WorldDef def, out Id world);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqDestroyWorld(Id world);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqWorld_Step(Id world, double seconds, out int ticks, out float alpha);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqWorld_SetGroundLevel(Id world, float height);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqWorld_SetGroundMesh(Id world, Vec3[] vertices, int vertexCount, int[] indices, int indexCount);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqWorld_SetObstacles(Id world, Obstacle[] obstacles, int count);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqWorld_SetMoveCallback(Id world, MoveCallback move, IntPtr context);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqWorld_Save(Id world, [Out] byte[] bytes, UIntPtr capacity, out UIntPtr size);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqWorld_Restore(Id world, byte[] bytes, UIntPtr size);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqCreateCrowd(Id world, ref CrowdDef def, out Id crowd);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqCrowd_SetGoals(Id crowd, Goal[] goals, int count, int stride);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqCrowd_GetBones(Id crowd, ref BoneLayout layout, float alpha, [Out] Bone[] bones, UIntPtr size, out int agents);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqCrowd_GetRoots(Id crowd, float alpha, [Out] Root[] roots, int stride, int capacity, out int count);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqCrowd_GetEvents(Id crowd, [Out] Event[] events, int capacity, out int count);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqCrowd_GetHash(Id crowd, out ulong hash);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqCreateAgent(Id crowd, ref AgentDef def, out AgentId agent);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqDestroyAgent(AgentId agent);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqAgent_GetRow(AgentId agent, out int row);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqAgent_SetGoal(AgentId agent, ref Goal goal);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqAgent_SetPlace(AgentId agent, Vec3 position, float heading);
        [DllImport(Library, CallingConvention = CallingConvention.Cdecl)] public static extern int mqAgent_SetLookAt(AgentId agent, Vec3 target, float weight);
    }
}
