// Exists so that the precompiled header is built once and reused by every module.
