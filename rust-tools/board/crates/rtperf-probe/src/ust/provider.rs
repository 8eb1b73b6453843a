// SPDX-FileCopyrightText: The meta-rtperf authors
// SPDX-License-Identifier: MIT OR Apache-2.0

//! The provider's functions, found by name in a shared object.

use crate::ProbeError;
use std::ffi::{c_char, OsStr};
#[cfg(not(target_feature = "crt-static"))]
use std::{ffi::CString, path::Path};

/// What this program expects `rtperf_ust_abi` to return.
#[cfg(not(target_feature = "crt-static"))]
const ABI: u32 = 1;

/// Its functions, as provider.c in crates/rtperf-ust defines them.
pub(super) struct Provider {
    pub(super) init_thread: unsafe extern "C" fn(),
    pub(super) round_start: unsafe extern "C" fn(*const c_char, u16, u32),
    pub(super) handoff: unsafe extern "C" fn(*const c_char, u16, u32, i64),
    pub(super) over_bound: unsafe extern "C" fn(*const c_char, u16, u32, i64, i64),
    pub(super) before_fork: unsafe extern "C" fn(*mut libc::sigset_t),
    pub(super) after_fork_parent: unsafe extern "C" fn(*mut libc::sigset_t),
    pub(super) after_fork_child: unsafe extern "C" fn(*mut libc::sigset_t),
}

#[cfg(target_feature = "crt-static")]
impl Provider {
    pub(super) fn open(_: &OsStr) -> Result<Provider, ProbeError> {
        Err(ProbeError(
            "no user-space events: this rtperf-run is linked statically and can load no \
             provider (the image's own package can)"
                .into(),
        ))
    }
}

#[cfg(not(target_feature = "crt-static"))]
impl Provider {
    /// Loads the shared object at an absolute path and checks that it is the
    /// provider for this program.
    pub(super) fn open(path: &OsStr) -> Result<Provider, ProbeError> {
        let at = Path::new(path);
        // The loader would look for a bare name in the system's folders.
        if !at.is_absolute() {
            return Err(ProbeError(format!(
                "no user-space events: {at:?} is no absolute path of a provider"
            )));
        }
        if !at.exists() {
            return Err(ProbeError(format!(
                "no user-space events: {} is not installed (package rtperf-ust)",
                at.display()
            )));
        }
        Library::open(path)?.provider()
    }
}

#[cfg(not(target_feature = "crt-static"))]
struct Library<'a> {
    handle: *mut libc::c_void,
    path: &'a OsStr,
}

#[cfg(not(target_feature = "crt-static"))]
impl Library<'_> {
    fn open(path: &OsStr) -> Result<Library<'_>, ProbeError> {
        use std::os::unix::ffi::OsStrExt;
        let name = CString::new(path.as_bytes())
            .map_err(|_| ProbeError(format!("{path:?} is no path")))?;
        // SAFETY: `name` is a C string. The object's constructors run; whoever
        // may install a file there or set this process's environment may run
        // anything as this user already.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        if handle.is_null() {
            return Err(ProbeError(format!(
                "no user-space events: {}",
                loader_error()
            )));
        }
        Ok(Library { handle, path })
    }

    /// All functions, or the first thing that is wrong.
    fn provider(&self) -> Result<Provider, ProbeError> {
        // SAFETY: every name has this type in provider.c; `rtperf_ust_abi`
        // keeps its type for ever and tells whether the others have.
        unsafe {
            let abi: unsafe extern "C" fn() -> u32 = self.function("rtperf_ust_abi")?;
            let found = abi();
            if found != ABI {
                return Err(self.wrong(&format!("has interface {found}, not {ABI}")));
            }
            Ok(Provider {
                init_thread: self.function("rtperf_ust_init_thread")?,
                round_start: self.function("rtperf_ust_round_start")?,
                handoff: self.function("rtperf_ust_handoff")?,
                over_bound: self.function("rtperf_ust_over_bound")?,
                before_fork: self.function("rtperf_ust_before_fork")?,
                after_fork_parent: self.function("rtperf_ust_after_fork_parent")?,
                after_fork_child: self.function("rtperf_ust_after_fork_child")?,
            })
        }
    }

    /// # Safety
    /// `F` is the type of a pointer to the function of that name.
    unsafe fn function<F: Copy>(&self, name: &str) -> Result<F, ProbeError> {
        let wrong = || self.wrong(&format!("has no {name}"));
        let c_name = CString::new(name).map_err(|_| wrong())?;
        // SAFETY: the handle is open and the name a C string.
        let at = unsafe { libc::dlsym(self.handle, c_name.as_ptr()) };
        // A null function pointer would be undefined behaviour.
        if at.is_null() {
            return Err(wrong());
        }
        // SAFETY: not null, and of this type by the caller's promise.
        Ok(unsafe { std::mem::transmute_copy::<*mut libc::c_void, F>(&at) })
    }

    fn wrong(&self, what: &str) -> ProbeError {
        ProbeError(format!(
            "no user-space events: {} {what} (install rtperf-ust and rtperf-run of one version)",
            Path::new(self.path).display()
        ))
    }
}

/// Why the last call of the loader failed, in the loader's words.
#[cfg(not(target_feature = "crt-static"))]
fn loader_error() -> String {
    // SAFETY: dlerror returns null or a C string that is valid until this
    // thread's next call of the loader.
    unsafe {
        let text = libc::dlerror();
        if text.is_null() {
            return "the loader gives no reason".into();
        }
        std::ffi::CStr::from_ptr(text)
            .to_string_lossy()
            .into_owned()
    }
}
