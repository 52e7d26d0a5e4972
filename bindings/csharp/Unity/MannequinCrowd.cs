// A crowd for Unity: put this on an empty object. docs/engines.md has the steps.

using System.Collections.Generic;
using UnityEngine;

namespace Mannequin
{
    public class MannequinCrowd : MonoBehaviour
    {
        public TextAsset model;    // dog-free.safetensors, with .bytes at the end of its name
        public GameObject prefab;  // a skinned mesh whose joints have the model's names; without one, bare joints are made
        public int capacity = 100;

        // An agent and its objects. If its object has a CharacterController, that decides how far the agent goes.
        public class Agent
        {
            internal AgentId id;
            internal GameObject instance;
            internal Transform[] joints;
            internal CharacterController controller;
            public GameObject Instance => instance;
        }

        readonly Dictionary<AgentId, Agent> agents = new Dictionary<AgentId, Agent>();
        Model asset;
        World world;
        Crowd crowd;
        Joint[] skeleton;
        Bone[] bones;
        Root[] roots;

        public World World => world; // for its ground and obstacles
        public Crowd Crowd => crowd;

        void Awake()
        {
            asset = new Model(model.bytes);
            Space space = Space.Of(Engine.Unity);
            world = new World(space);
            world.SetMove(Decide);
            crowd = new Crowd(world, asset, capacity);
            skeleton = new Joint[asset.Joints];
            for (int i = 0; i < skeleton.Length; i++)
                skeleton[i] = asset.GetJoint(i, space);
            bones = new Bone[capacity * skeleton.Length];
            roots = new Root[capacity];
        }

        void OnDestroy()
        {
            if (world != null)
                world.Dispose();
            if (asset != null)
                asset.Dispose();
        }

        // Adds an agent that faces along +Z, turned by heading radians, clockwise from above.
        public Agent Add(Vector3 position, float heading)
        {
            var agent = new Agent { instance = prefab != null ? Instantiate(prefab) : new GameObject(asset.Name) };
            agent.instance.transform.position = position;
            agent.controller = agent.instance.GetComponent<CharacterController>();
            agent.joints = new Transform[skeleton.Length];
            for (int i = 0; i < skeleton.Length; i++)
            {
                Transform parent = i == 0 ? agent.instance.transform : agent.joints[skeleton[i].Parent];
                agent.joints[i] = prefab != null ? Find(agent.instance.transform, skeleton[i].Name) : null;
                if (agent.joints[i] == null)
                {
                    agent.joints[i] = new GameObject(skeleton[i].Name).transform;
                    agent.joints[i].SetParent(parent, false);
                }
            }
            agent.id = crowd.Add(position, heading);
            agents[agent.id] = agent;
            return agent;
        }

        public void Remove(Agent agent)
        {
            crowd.Remove(agent.id);
            agents.Remove(agent.id);
            Destroy(agent.instance);
        }

        // Goes as a stick is held: direction in the world, at most 1 long; speed in metres a second.
        public void Steer(Agent agent, Vector3 direction, float speed)
        {
            crowd.SetGoal(agent.id, new Goal { Kind = GoalKind.Stick, Move = direction, Speed = speed });
        }

        public void GoTo(Agent agent, Vector3 place, float radius, float speed)
        {
            crowd.SetGoal(agent.id, new Goal { Kind = GoalKind.Place, Place = place, Radius = radius, Speed = speed });
        }

        public void Act(Agent agent, string action)
        {
            crowd.SetGoal(agent.id, new Goal { Action = asset.FindAction(action) });
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

        // Height is the agent's own: it comes from the world's ground.
        Vec3 Decide(Move move)
        {
            Agent agent = agents[move.Agent];
            if (agent.controller == null)
                return move.After;
            Vector3 at = agent.instance.transform.position;
            agent.controller.Move(new Vector3(move.After.X - at.x, move.After.Y - at.y, move.After.Z - at.z));
            return agent.instance.transform.position;
        }

        void Update()
        {
            float alpha = world.Step(Time.deltaTime);
            int count = crowd.GetRoots(roots, alpha);
            crowd.GetBones(bones, alpha, Relative.Local);
            for (int row = 0; row < count; row++)
            {
                Agent agent = agents[roots[row].Agent];
                Vector3 position = roots[row].Position;
                Quaternion rotation = Quaternion.AngleAxis(roots[row].Heading * Mathf.Rad2Deg, Vector3.up);
                agent.instance.transform.rotation = rotation;
                if (agent.controller == null) // a controller has moved its own
                    agent.instance.transform.position = position;
                int first = row * skeleton.Length;
                agent.joints[0].position = position + rotation * (Vector3)bones[first].Position;
                agent.joints[0].rotation = rotation * (Quaternion)bones[first].Rotation;
                for (int i = 1; i < skeleton.Length; i++)
                {
                    agent.joints[i].localPosition = bones[first + i].Position;
                    agent.joints[i].localRotation = bones[first + i].Rotation;
                }
            }
        }
    }
}
