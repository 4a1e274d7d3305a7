// Carries a precompiled header for other targets to reuse.
