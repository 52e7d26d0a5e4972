// As much of Unity's types as MannequinCrowd.cs needs to compile and run in a test. It is not Unity: it says that names and types
// fit together, and what the component does with them.

using System;
using System.Collections.Generic;
using System.Reflection;

namespace AOT
{
    public class MonoPInvokeCallbackAttribute : Attribute
    {
        public MonoPInvokeCallbackAttribute(Type type) { }
    }
}

namespace UnityEngine
{
    public struct Vector3
    {
        public float x, y, z;
        public Vector3(float x, float y, float z) { this.x = x; this.y = y; this.z = z; }
        public static Vector3 up => new Vector3(0, 1, 0);
        public static Vector3 operator +(Vector3 a, Vector3 b) => new Vector3(a.x + b.x, a.y + b.y, a.z + b.z);
        public static Vector3 operator -(Vector3 a, Vector3 b) => new Vector3(a.x - b.x, a.y - b.y, a.z - b.z);
    }

    public struct Quaternion
    {
        public float x, y, z, w;
        public Quaternion(float x, float y, float z, float w) { this.x = x; this.y = y; this.z = z; this.w = w; }

        public static Quaternion AngleAxis(float degrees, Vector3 axis)
        {
            double half = degrees * Math.PI / 360;
            float s = (float)Math.Sin(half);
            return new Quaternion(axis.x * s, axis.y * s, axis.z * s, (float)Math.Cos(half));
        }

        public static Quaternion Inverse(Quaternion q) => new Quaternion(-q.x, -q.y, -q.z, q.w);

        public static Quaternion operator *(Quaternion a, Quaternion b) => new Quaternion(
            a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y, a.w * b.y + a.y * b.w + a.z * b.x - a.x * b.z,
            a.w * b.z + a.z * b.w + a.x * b.y - a.y * b.x, a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z);

        public static Vector3 operator *(Quaternion q, Vector3 v)
        {
            Quaternion r = q * new Quaternion(v.x, v.y, v.z, 0) * Inverse(q);
            return new Vector3(r.x, r.y, r.z);
        }
    }

    public static class Mathf { public const float Rad2Deg = (float)(180 / Math.PI); }
    public static class Time { public static float deltaTime; }
    public class TextAsset { public byte[] bytes; }

    public class Transform
    {
        public string name;
        public Vector3 localPosition;
        public Quaternion localRotation = new Quaternion(0, 0, 0, 1);
        Transform parent;
        readonly List<Transform> children = new List<Transform>();
        public int childCount => children.Count;
        public Transform GetChild(int i) => children[i];

        public void SetParent(Transform to, bool worldPositionStays)
        {
            parent = to;
            to.children.Add(this);
        }

        public Vector3 position
        {
            get => parent == null ? localPosition : parent.position + parent.rotation * localPosition;
            set => localPosition = parent == null ? value : Quaternion.Inverse(parent.rotation) * (value - parent.position);
        }

        public Quaternion rotation
        {
            get => parent == null ? localRotation : parent.rotation * localRotation;
            set => localRotation = parent == null ? value : Quaternion.Inverse(parent.rotation) * value;
        }
    }

    public class GameObject
    {
        public readonly Transform transform = new Transform();
        public object component; // at most one
        public GameObject(string name) { transform.name = name; }
        public T GetComponent<T>() where T : class => component as T;
    }

    // Lets nobody past a wall.
    public class CharacterController
    {
        public GameObject gameObject;
        public float wall;

        public void Move(Vector3 by)
        {
            Vector3 to = gameObject.transform.position + by;
            to.z = Math.Min(to.z, wall);
            gameObject.transform.position = to;
        }
    }

    public class MonoBehaviour
    {
        public static Func<GameObject, GameObject> instantiate;
        public static GameObject Instantiate(GameObject prefab) => instantiate(prefab);
        public static void Destroy(GameObject o) { }

        // Calls what Unity calls by name.
        public void Call(string message)
        {
            GetType().GetMethod(message, BindingFlags.Instance | BindingFlags.NonPublic).Invoke(this, null);
        }
    }
}
