//! foreword: the memory layer that stands before a prompt.
