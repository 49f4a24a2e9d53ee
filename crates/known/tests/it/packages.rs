//! Packages of Debian, in files of dpkg made by hand. Packages that dpkg installed are in the tests of `hashlane sum`.

use std::fs;
use std::path::{Path, PathBuf};

use hashlane_known::dpkg;

const MD5: &str = "0123456789abcdef0123456789abcdef";

fn system(status: &str, info: &[(&str, &str)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let admin = folder.path().join("var/lib/dpkg");
    fs::create_dir_all(admin.join("info")).unwrap();
    fs::write(admin.join("status"), status).unwrap();
    for (name, text) in info {
        fs::write(admin.join("info").join(name), text).unwrap();
    }
    folder
}

fn read(root: &Path, names: &[&str]) -> Result<dpkg::Packages, String> {
    let names: Vec<String> = names.iter().map(ToString::to_string).collect();
    dpkg::read(root, &names).map_err(|error| error.to_string())
}

fn paths(packages: &dpkg::Packages) -> Vec<&Path> {
    packages
        .files
        .iter()
        .map(|file| file.path.as_path())
        .collect()
}

#[test]
fn packages_for_several_architectures() {
    let status = "Package: a\nStatus: install ok installed\nArchitecture: amd64\n\n\
        Package: a\nArchitecture: i386\nStatus: hold ok unpacked\n\n\
        Package: gone\nStatus: deinstall ok config-files\nConffiles:\n /etc/gone 0123456789abcdef0123456789abcdef\n";
    let (amd64, i386) = (format!("{MD5}  lib/64\n"), format!("{MD5}  lib/32\n"));
    let info = [
        ("a:amd64.md5sums", amd64.as_str()),
        ("a:amd64.list", "/.\n/lib\n/lib/64\n"),
        ("a:i386.md5sums", &i386),
        ("a:i386.list", "/.\n/lib/32\n"),
    ];
    let system = system(status, &info);
    let found = |names: &[&str]| {
        let packages = read(system.path(), names).unwrap();
        let paths = paths(&packages).into_iter().map(Path::to_owned);
        paths.collect::<Vec<PathBuf>>()
    };
    let (both, one) = (
        [PathBuf::from("lib/64"), "lib/32".into()],
        [PathBuf::from("lib/32")],
    );
    assert_eq!(found(&[]), both);
    assert_eq!(found(&["a"]), both);
    assert_eq!(found(&["a:i386"]), one);
    assert_eq!(
        read(system.path(), &["gone"]).unwrap_err(),
        "gone: is not installed"
    );
}

#[test]
fn configuration_files() {
    let status = format!(
        "Package: a\nStatus: install ok installed\nArchitecture: all\nDescription: x\n /etc/description {MD5}\n\
         Conffiles:\n /etc/a {MD5}\n /etc/b c {MD5} obsolete\n /etc/new newconffile\n /etc/gone {MD5} remove-on-upgrade\n"
    );
    let system = system(&status, &[("a.md5sums", ""), ("a.list", "/.\n")]);
    let packages = read(system.path(), &[]).unwrap();
    assert_eq!(paths(&packages), [Path::new("etc/a"), Path::new("etc/b c")]);
}

#[test]
fn lines_that_cannot_be_used_are_counted() {
    let status = "Package: a\nStatus: install ok installed\nArchitecture: all\n";
    let sums =
        format!("{MD5}  right\n{MD5}  ../out\n{MD5} one space\nshort\n\n{MD5}  \n{MD5}  /rooted\n");
    let system = system(
        status,
        &[
            ("a.md5sums", sums.as_str()),
            ("a.list", "/right\n/rooted\n"),
        ],
    );
    let packages = read(system.path(), &[]).unwrap();
    assert_eq!(paths(&packages), [Path::new("right"), Path::new("rooted")]);
    let lines: Vec<usize> = packages.improper.iter().map(|line| line.line).collect();
    assert_eq!(lines, [2, 3, 4, 5, 6]);
}

#[test]
fn names_of_packages_are_no_paths() {
    let status = "Package: ../../x\nStatus: install ok installed\nArchitecture: all\n";
    let system = system(status, &[]);
    let sums = format!("{MD5}  right\n");
    fs::write(system.path().join("var/lib/x.md5sums"), sums).unwrap();
    fs::write(system.path().join("var/lib/x.list"), "/right\n").unwrap();
    assert!(read(system.path(), &[]).unwrap().files.is_empty());
}

#[test]
fn packages_without_lists_are_named() {
    let package = |name: &str| {
        format!("Package: {name}\nStatus: install ok installed\nArchitecture: all\n\n")
    };
    let names = [
        "right",
        "no-list",
        "empty-list",
        "empty-sums",
        "nothing",
        "links",
    ];
    let status: String = names.map(package).concat();
    let sums = format!("{MD5}  file\n");
    let info = [
        ("right.list", "/.\n/file\n"),
        ("right.md5sums", &sums),
        ("no-list.md5sums", &sums),
        ("empty-list.list", ""),
        ("empty-list.md5sums", &sums),
        ("empty-sums.list", "/.\n/file\n"),
        ("empty-sums.md5sums", ""),
        ("links.list", "/.\n/folder\n"),
        ("links.md5sums", ""),
    ];
    let system = system(&status, &info);
    fs::write(system.path().join("file"), "").unwrap();
    fs::create_dir(system.path().join("folder")).unwrap();
    let packages = read(system.path(), &[]).unwrap();
    assert_eq!(paths(&packages), [Path::new("file")]);
    let expected = ["no-list", "empty-list", "empty-sums", "nothing"];
    assert_eq!(packages.without_digests, expected);
}

#[test]
fn diversions_stay_below_the_root() {
    let status = "Package: a\nStatus: install ok installed\nArchitecture: all\n";
    let sums = format!("{MD5}  one\n{MD5}  two\n");
    let info = [("a.md5sums", sums.as_str()), ("a.list", "/one\n/two\n")];
    let system = system(status, &info);
    let diversions = "/one\n/../../out\nb\n/two\n/moved\nb\n";
    let admin = system.path().join("var/lib/dpkg");
    fs::write(admin.join("diversions"), diversions).unwrap();
    let packages = read(system.path(), &[]).unwrap();
    assert_eq!(paths(&packages), [Path::new("one"), Path::new("moved")]);
}

#[test]
fn a_system_without_dpkg_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let error = read(folder.path(), &[]).unwrap_err();
    assert!(error.contains("var/lib/dpkg/status: "), "{error}");
}
