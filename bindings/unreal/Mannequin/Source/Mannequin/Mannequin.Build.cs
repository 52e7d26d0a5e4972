using System.IO;
using UnrealBuildTool;

// The C library and its header lie in ThirdParty: mannequin.h, libmannequin.so; on Windows mannequin.dll and mannequin.lib.
public class Mannequin : ModuleRules
{
	public Mannequin(ReadOnlyTargetRules Target) : base(Target)
	{
		PCHUsage = PCHUsageMode.UseExplicitOrSharedPCHs;
		PublicDependencyModuleNames.AddRange(new string[] { "Core", "CoreUObject", "Engine" });
		string Library = Path.Combine(PluginDirectory, "ThirdParty");
		PublicSystemIncludePaths.Add(Library);
		if (Target.Platform == UnrealTargetPlatform.Win64)
		{
			PublicAdditionalLibraries.Add(Path.Combine(Library, "mannequin.lib"));
			RuntimeDependencies.Add("$(BinaryOutputDir)/mannequin.dll", Path.Combine(Library, "mannequin.dll"));
		}
		else
		{
			PublicAdditionalLibraries.Add(Path.Combine(Library, "libmannequin.so"));
			RuntimeDependencies.Add(Path.Combine(Library, "libmannequin.so"));
		}
	}
}
