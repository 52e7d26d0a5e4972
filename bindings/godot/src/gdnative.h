// What the extension uses of Godot 3's C interface, GDNative. Godot hands over tables of functions, in which each has a
// fixed place. Names and places are facts of Godot 3.2, and later versions of 3 have the same.

#ifndef MANNEQUIN_GDNATIVE_H
#define MANNEQUIN_GDNATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if UINTPTR_MAX != UINT64_MAX
#error "the sizes below are those of 64-bit platforms"
#endif

#ifdef _WIN32
#define GD_EXPORT __declspec(dllexport)
#else
#define GD_EXPORT __attribute__((visibility("default")))
#endif

// Values of Godot. They are bytes and not floats because C passes these in other registers, and Godot passes bytes.
typedef struct gdVariant { uint8_t bytes[24]; } gdVariant;
typedef struct gdString { uint8_t bytes[8]; } gdString;
typedef struct gdCharString { uint8_t bytes[8]; } gdCharString;
typedef struct gdPoolArray { uint8_t bytes[8]; } gdPoolArray;
typedef struct gdVector3 { uint8_t bytes[12]; } gdVector3;
typedef struct gdTransform { float rows[3][3], origin[3]; } gdTransform; // only passed by pointers
typedef void gdObject;
typedef void gdMethodBind;
typedef void gdReadAccess;

typedef void gdFunction(void);

typedef struct gdVersion { unsigned int major, minor; } gdVersion;

// Each table begins so.
typedef struct gdTable {
	unsigned int type; // gd_typeCore, gd_typeNativeScript
	gdVersion version;
	const struct gdTable* next; // of a later version; null if there is none
} gdTable;

enum {
	gd_typeCore = 0,
	gd_typeNativeScript = 1
};

typedef struct gdCore {
	gdTable table;
	unsigned int extensionCount;
	const gdTable** extensions;
	gdFunction* functions[];
} gdCore;

typedef struct gdExtension {
	gdTable table;
	gdFunction* functions[];
} gdExtension;

typedef struct gdInitOptions {
	bool inEditor;
	uint64_t coreHash, editorHash, noHash;
	void (*reportVersionMismatch)(const gdObject* library, const char* what, gdVersion want, gdVersion have);
	void (*reportLoadingError)(const gdObject* library, const char* what);
	gdObject* library;
	const gdCore* core;
	const gdString* path;
} gdInitOptions;

typedef struct gdTerminateOptions { bool inEditor; } gdTerminateOptions;

// Calls of classes. data and the free functions are not used here.
typedef struct gdCreate {
	void* (*create)(gdObject* instance, void* data);
	void* data;
	void (*free)(void* data);
} gdCreate;

typedef struct gdDestroy {
	void (*destroy)(gdObject* instance, void* data, void* user);
	void* data;
	void (*free)(void* data);
} gdDestroy;

typedef struct gdMethod {
	gdVariant (*method)(gdObject* instance, void* data, void* user, int count, gdVariant** args);
	void* data;
	void (*free)(void* data);
} gdMethod;

// The functions: X(their place in the table, their result, their name, their parameters).
#define GD_CORE(X) \
	X(165, gdReadAccess*, pool_byte_array_read, (const gdPoolArray*)) \
	X(169, int, pool_byte_array_size, (const gdPoolArray*)) \
	X(170, void, pool_byte_array_destroy, (gdPoolArray*)) \
	X(181, gdReadAccess*, pool_int_array_read, (const gdPoolArray*)) \
	X(185, int, pool_int_array_size, (const gdPoolArray*)) \
	X(186, void, pool_int_array_destroy, (gdPoolArray*)) \
	X(245, gdReadAccess*, pool_vector3_array_read, (const gdPoolArray*)) \
	X(249, int, pool_vector3_array_size, (const gdPoolArray*)) \
	X(250, void, pool_vector3_array_destroy, (gdPoolArray*)) \
	X(268, const uint8_t*, pool_byte_array_read_access_ptr, (const gdReadAccess*)) \
	X(270, void, pool_byte_array_read_access_destroy, (gdReadAccess*)) \
	X(272, const int*, pool_int_array_read_access_ptr, (const gdReadAccess*)) \
	X(274, void, pool_int_array_read_access_destroy, (gdReadAccess*)) \
	X(288, const gdVector3*, pool_vector3_array_read_access_ptr, (const gdReadAccess*)) \
	X(290, void, pool_vector3_array_read_access_destroy, (gdReadAccess*)) \
	X(509, void, variant_new_nil, (gdVariant*)) \
	X(510, void, variant_new_bool, (gdVariant*, bool)) \
	X(512, void, variant_new_int, (gdVariant*, int64_t)) \
	X(517, void, variant_new_vector3, (gdVariant*, const gdVector3*)) \
	X(523, void, variant_new_transform, (gdVariant*, const gdTransform*)) \
	X(539, int64_t, variant_as_int, (const gdVariant*)) \
	X(540, double, variant_as_real, (const gdVariant*)) \
	X(541, gdString, variant_as_string, (const gdVariant*)) \
	X(544, gdVector3, variant_as_vector3, (const gdVariant*)) \
	X(554, gdObject*, variant_as_object, (const gdVariant*)) \
	X(557, gdPoolArray, variant_as_pool_byte_array, (const gdVariant*)) \
	X(558, gdPoolArray, variant_as_pool_int_array, (const gdVariant*)) \
	X(562, gdPoolArray, variant_as_pool_vector3_array, (const gdVariant*)) \
	X(572, const char*, char_string_get_data, (const gdCharString*)) \
	X(573, void, char_string_destroy, (gdCharString*)) \
	X(678, gdCharString, string_utf8, (const gdString*)) \
	X(681, gdString, string_chars_to_utf8, (const char*)) \
	X(721, void, string_destroy, (gdString*)) \
	X(732, gdMethodBind*, method_bind_get_method, (const char*, const char*)) \
	X(733, void, method_bind_ptrcall, (gdMethodBind*, gdObject*, const void**, void*)) \
	X(741, void, print_error, (const char*, const char*, const char*, int))

#define GD_CORE_1_2(X) \
	X(17, gdObject*, instance_from_id, (int))

#define GD_NATIVESCRIPT(X) \
	X(0, void, register_class, (void*, const char*, const char*, gdCreate, gdDestroy)) \
	X(2, void, register_method, (void*, const char*, const char*, int, gdMethod))

#endif // MANNEQUIN_GDNATIVE_H
