/* A Vulkan driver for Chromium's WebGPU that has float16, in place of its SwiftShader: Mesa's lavapipe. Chromium draws with SwiftShader as before.
   It takes no other driver that runs on the processor, and none without two features that lavapipe lacks before Mesa 23. So this one names itself
   SwiftShader and claims them: dynamic indices of arrays of images, which compute shaders here do not use. webgpu-float16.sh builds it. */
#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

typedef void (*function)(void);
typedef function (*lookup)(void *instance, const char *name);

struct info { /* how VkApplicationInfo and others begin */
	int type;
	void *next;
};
struct application {
	struct info head;
	const char *name;
	uint32_t version;
	const char *engine;
};
struct instance_create {
	struct info head;
	uint32_t flags;
	struct application *application;
};

enum { features2 = 1000059000, sampled_images = 34, storage_images = 36 }; /* an sType, and numbers of VkPhysicalDeviceFeatures */
enum { features_at = 64 };                                                /* pEnabledFeatures in VkDeviceCreateInfo */

static lookup lavapipe, swiftshader;
static void *webgpu[16]; /* instances of lavapipe */
static int instances;

static void (*get_features)(void *, uint32_t *);
static void (*get_features2)(void *, struct info *);
static void (*get_properties)(void *, uint32_t *);
static void (*get_properties2)(void *, struct info *);
static int (*create_device)(void *, struct info *, void *, void *);

static void claim(uint32_t *features, uint32_t value) { features[sampled_images] = features[storage_images] = value; }
static void rename_device(uint32_t *properties) { properties[2] = 0x1ae0, properties[3] = 0xc0de; }

static void features_of(void *device, uint32_t *to) { get_features(device, to), claim(to, 1); }
static void features2_of(void *device, struct info *to) { get_features2(device, to), claim((uint32_t *)(to + 1), 1); }
static void properties_of(void *device, uint32_t *to) { get_properties(device, to), rename_device(to); }
static void properties2_of(void *device, struct info *to) { get_properties2(device, to), rename_device((uint32_t *)(to + 1)); }

static int open_device(void *device, struct info *create, void *allocator, void *to) {
	uint32_t *features = *(uint32_t **)((char *)create + features_at);
	if (features) claim(features, 0);
	for (struct info *i = create->next; i; i = i->next)
		if (i->type == features2) claim((uint32_t *)(i + 1), 0);
	return create_device(device, create, allocator, to);
}

static int open_instance(struct instance_create *create, void *allocator, void **to) {
	struct application *a = create->application;
	int dawn = a && a->engine && !strcmp(a->engine, "Dawn") && instances < 16; /* Chromium's WebGPU */
	int (*open)(struct instance_create *, void *, void **) = (int (*)(struct instance_create *, void *, void **))(dawn ? lavapipe : swiftshader)(0, "vkCreateInstance");
	int result = open(create, allocator, to);
	if (dawn && !result) webgpu[instances++] = *to;
	return result;
}

function vkGetInstanceProcAddr(void *instance, const char *name) {
	if (!lavapipe) {
		lavapipe = (lookup)dlsym(dlopen("libvulkan_lvp.so", RTLD_NOW), "vk_icdGetInstanceProcAddr");
		swiftshader = (lookup)dlsym(dlopen(SWIFTSHADER, RTLD_NOW), "vk_icdGetInstanceProcAddr");
	}
	if (!strcmp(name, "vkCreateInstance")) return (function)open_instance;
	if (!strcmp(name, "vkGetInstanceProcAddr")) return (function)vkGetInstanceProcAddr;
	int i = 0;
	while (i < instances && webgpu[i] != instance) i++;
	if (i == instances) return swiftshader(instance, name);
	function f = lavapipe(instance, name);
	if (!f) return f;
	struct { const char *name; void *theirs; function ours; } ours[] = {
		{"vkGetPhysicalDeviceFeatures", &get_features, (function)features_of},
		{"vkGetPhysicalDeviceFeatures2", &get_features2, (function)features2_of},
		{"vkGetPhysicalDeviceFeatures2KHR", &get_features2, (function)features2_of},
		{"vkGetPhysicalDeviceProperties", &get_properties, (function)properties_of},
		{"vkGetPhysicalDeviceProperties2", &get_properties2, (function)properties2_of},
		{"vkGetPhysicalDeviceProperties2KHR", &get_properties2, (function)properties2_of},
		{"vkCreateDevice", &create_device, (function)open_device},
	};
	for (unsigned k = 0; k < sizeof ours / sizeof *ours; k++)
		if (!strcmp(name, ours[k].name)) {
			memcpy(ours[k].theirs, &f, sizeof f);
			return ours[k].ours;
		}
	return f;
}

function vk_icdGetInstanceProcAddr(void *instance, const char *name) { return vkGetInstanceProcAddr(instance, name); }
int vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version) { return *version > 3 ? (*version = 3, 0) : 0; }
