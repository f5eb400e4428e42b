#!/usr/bin/env perl
# A class is graded: whatever form its submissions have, several at a time; and who cannot
# be graded is said.

use strict;
use warnings;
use utf8;
use Encode qw(encode_utf8);
use File::Path qw(make_path);
use File::Temp qw(tempdir);
use IO::Compress::Zip qw($ZipError);
use POSIX qw(mkfifo);
use Chapter;
use Submission;
use Test::More;
use Text;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);
delete @ENV{qw(MAKEFLAGS MAKELEVEL MFLAGS CHAPTER NAME CONF FORMAT)};
my $make = $ENV{MAKE} // 'make';
my $folder = tempdir(CLEANUP => 1);
make_path($ENV{TMPDIR} = "$folder/tmp"); # for what a killed one leaves
chmod 0711, $folder;
my $chapter = Chapter->load('chapters/02_softmax.c');
my @exercises = grep { $_->{function} } @{$chapter->{exercises}};

sub put {
    my ($path, $text) = @_;
    make_path($path =~ s{/[^/]*\z}{}sr);
    open my $file, '>:raw', $path or die "$path: $!\n";
    print $file $text;
    close $file or die "$path: $!\n";
}
my ($solved, $empty) = map { encode_utf8($_) } map { join '', map {"$_\n"} @$_ } $chapter->{lines}, [$chapter->emptied(@exercises)];
my $wrong = $empty =~ s/^    TODO\("2\.1"\);/    (void)n; weights[0] = scores[0];/mr;

# ---- Submissions in all the forms that they come in

my $work = "$folder/forms";
sub archive {
    my ($path, @files) = @_;
    make_path($path =~ s{/[^/]*\z}{}sr);
    my $zip = IO::Compress::Zip->new($path, Name => $files[0][0]) or die $ZipError;
    for my $k (0 .. $#files) {
        $zip->newStream(Name => $files[$k][0]) if $k;
        $zip->print($files[$k][1]);
    }
    $zip->close;
}

# What is found in this path of chapter 02, and of 03 if there are two; or what is wrong.
sub found {
    my ($path, @chapters) = @_;
    @chapters = '02_softmax' if !@chapters;
    my %text = eval { Submission::texts(["$work/$path"], @chapters) };
    return $@ || join ' ', map { my $its = $text{$_} // 'none'; length $its > 9e5 ? length $its : $its } @chapters;
}

my @two = qw(02_softmax 03_qkv);
put("$work/$_", 'C') for 'plain/02_softmax.c', 'below/chapters/02_softmax.c', 'deep/hw1/chapters/02_softmax.c',
  'again/a/02_softmax (1).c', 'alone/mine/my softmax.c', 'windows/02_Softmax.c.txt', "Anna M\xc3\xbcller \"A\"/'x y'/02_softmax.c",
  'twice/a/02_softmax.c', 'twice/b/02_softmax.c', 'differ/a/02_softmax.c', 'main/main.c', 'main/second.c';
put("$work/$_/02_softmax.c", 'another') for 'deep/hw1/.book', 'deep/__MACOSX', 'differ/b';
put("$work/book/hw1/$_", 'C') for 'chapters/02_softmax.c', 'chapters/03_qkv.c';
put("$work/book/hw1/$_/02_softmax.c", 'another') for 'tests', 'build/code', 'old';
put("$work/large/deep/02_softmax.c", 'x' x 1_000_001);
put("$work/broken/hw1.zip", 'x');
make_path("$work/link", "$work/links", "$work/pipe");
symlink "$work/plain/02_softmax.c", "$work/link/02_softmax.c";
symlink "$work/below/chapters", "$work/links/chapters";
symlink "$work/plain", "$work/to plain";
mkfifo("$work/pipe/02_softmax.c", 0600);
archive("$work/zipped/hw1.zip", ['hw1/README.md', 'x'], ['hw1/.book/02_softmax.c', 'the solution'],
    ['__MACOSX/hw1/02_softmax.c', 'x'], ['hw1/chapters/02_softmax.c', 'Z'], ["$folder/escaped/03_qkv.c", 'Y'], ['../../x/02_softmax.c', 'X']);
archive("$work/windows.zip", ['hw1\\chapters\\02_softmax.c', 'W'], ['hw1\\.book\\02_softmax.c', 'the solution']);
archive("$work/again.zip", ['02_softmax.c', 'C'], ['02_softmax.c', 'another']);
archive("$work/nested.zip", ['hw/README.md', 'x'], ['__MACOSX/x.zip', 'x'], ['hw/hw1.zip', 'x']);
archive("$work/bomb.zip", ['1.txt', 'x' x 210_000_000]);
for ((map { [$_, 'C'] } 'plain', 'below', 'deep', 'again', 'alone', 'windows', "Anna M\xc3\xbcller \"A\"", 'twice', 'book'),
     ['main', 'none'], ['plain/', 'C'], ['to plain', 'C'], ['book', 'C C', @two], ['alone', 'none none', @two],
     ['differ', "02_softmax.c is there more than once: a/02_softmax.c and b/02_softmax.c: one is needed\n"],
     ['large', 1_000_001], ['link', 'none'], ['links', 'none'], ['pipe', 'none'],
     ['again.zip', "02_softmax.c is in again.zip, and was there before with other contents: one is needed\n"],
     ['nested.zip', "hw/hw1.zip in nested.zip is an archive: unpack it first, into a folder of its own\n"],
     ['bomb.zip', "bomb.zip has more than 200000000 bytes in it\n"],
     ['broken', "hw1.zip is no zip archive that can be read here: unpack it first, into a folder of its own\n"],
     ['zipped', 'Z Y', @two], ['windows.zip', 'W']) {
    my ($path, $due, @chapters) = @$_;
    is found($path, @chapters), $due, "a submission: $path";
}
ok !-e "$folder/escaped" && !-e 'x', '... nothing was unpacked to where a name leads';

# What a folder holds: folders, archives, files; and what is nobody's.
my $loose = "$folder/loose";
put("$loose/$_", 'C') for 'anna_12_assignsubmission_02_softmax.c', 'anna_12_assignsubmission_03_qkv.c', 'bob_02_softmax-1.c',
  'fox_123_4567_02_softmax.c', 'fox_123_4568_03_qkv.c',
  'carol/02_softmax.c', '.hidden/02_softmax.c', 'notes.txt', '02_softmax.c', 'carol.zip', 'Dora M.zip', 'emil.tar.gz';
sub names { my ($of, @others) = Submission::all(@_); return join('|', sort keys %$of) . ' but ' . join '|', @others }
is names($loose, @two), 'Dora M|anna_12_assignsubmission|bob|carol|emil|fox_123 but 02_softmax.c|notes.txt', 'a folder for all';

# ---- A class

my ($class, $out) = ("$folder/a class", "$folder/its grades");
my $conf = Chapter::save("$folder/hw.conf", 'name = hw', 'title = Scores & shares', 'chapters = 02');
put("$class/bob/chapters/02_softmax.c", $solved);
put("$class/alice\n\"x\", y/02_softmax.c", $solved);
put("$class/=cmd()/chapters/02_softmax.c", $empty);
put("$class/carol/deep/02_softmax.c", $wrong);
put("$class/none/README.md", 'x');
make_path("$class/tied");
symlink "$class/bob/chapters/02_softmax.c", "$class/tied/02_softmax.c";
put("$class/broken/02_softmax.c", "int a;\nint b = ;\n");
archive("$class/Anna M\xc3\xbcller.zip", ['hw/02_softmax.c', $solved]);
symlink '/', "$class/link";
sub grade_class {
    my $said = `$make -s grade-all DIR='$class' OUT='$out' CONF='$conf' 2>'$folder/err'`;
    return ($? >> 8, $said, Text::of_file("$folder/err") =~ s/^make: .*\n//mgr);
}
my ($status, $said, $told) = grade_class();
is "$status $told", '0 ', 'a class is graded';
like $said, qr/^2\.1 +softmax +3 done, 1 wrong, 4 open; most often: \w.*\n(?s:.*)^8 submissions\n(?s:.*)^Left out, as neither folder, archive nor chapter: link$/m,
  '... of which is said how far it is, and what is nobody\'s';
my $table = Text::of_file("$out/grades.csv");
is $table, join("\r\n", "\x{feff}name,score,max,2.1,2.2,2.3,note", q{"'=cmd()",0,10,0,0,0,}, 'Anna Müller,10,10,3,3,4,',
    q{"alice ""x"", y",10,10,3,3,4,}, 'bob,10,10,3,3,4,', ($table =~ /^(broken,0,10,0,0,0,.*)\r$/m)[0] // 'broken',
    'carol,0,10,0,0,0,', map({qq{$_,0,10,0,0,0,"there is no 02_softmax.c, or it is a link"}} qw(none tied)), ''), '... into a table in which no name is a formula';
like $table, qr/^broken,.*02_softmax\.c:2:.*error/m, '... that tells why one does not compile';
like Text::of_file("$out/reports/Anna M\xc3\xbcller.txt"), qr{\Ahw, Anna Müller\n\n2\.1 .*^score: 10 / 10$}ms, 'a report has its student\'s name';

# Who cannot be graded.
put("$class/bob/other/chapters/02_softmax.c", $empty);
put("$class/$_.rar", 'x') for qw(emil fay gus);
($status, $said, $told) = grade_class();
is $status, 2, 'who cannot be graded makes the status 2';
like $told, qr{\Atools/teach/grade-all: bob could not be graded: 02_softmax\.c is there more than once: [^\n]*; emil could not be graded: emil\.rar is an archive: unpack it first[^\n]*; fay could[^;\n]*; 1 more: grades\.csv says why\. When[^\n]*\n\z},
  '... is said on one line';
like Text::of_file("$out/grades.csv"), qr/^bob,,,,,,.*more than once.*\r\n(?s:.*)^emil,,,,,,"?emil\.rar is an archive(?s:.*)^gus,/m, '... has no points in the table, but the reason';
ok !-e "$out/reports/bob.txt", '... nor a report of another day';
unlink "$class/bob/other/chapters/02_softmax.c", map {"$class/$_.rar"} qw(emil fay gus);
put("$class/carol/deep/02_softmax.c", $solved);
Chapter::save($conf, 'name = hw', 'title = Scores & shares', 'chapters = 02', 'points 2.1 = 9');
is((grade_class())[0], 0, 'when that is mended, all are');
like Text::of_file("$out/grades.csv"), qr/^bob,16,.*^carol,16,16,9,3,4,/ms, '... with other points, and by what is there now';

# ---- What is graded: the assignment decides, or else CHAPTER.

system("tools/learn/student 02 '$folder/copy' >/dev/null") == 0 or die 'no copy can be made';
sub of_copy {
    my (@with) = @_;
    my $said = `$make -s grade WORK='$folder/copy' @with 2>&1`;
    return join ' ', $? >> 8, ($said =~ /\A(.*)/)[0], $said =~ m{^score: (.*)}m;
}
like of_copy(), qr/^2 \S+ say what to grade: NAME=hw1 or CHAPTER=02 is needed/, 'what is graded must be said';
is of_copy('CHAPTER=2.1'), '0 CHAPTER=2.1 0 / 3', 'a copy handed in blank has nothing, of what CHAPTER names';
is of_copy('CHAPTER=01', "CONF='$conf'"), '0 hw 0 / 16', '... or of the assignment, whatever CHAPTER names';
like of_copy('CHAPTER=2.9'), qr/^2 \S+ CHAPTER=2\.9: exercise 2\.9 is not in chapter 2: /, '... which there must be';
like of_copy('CHAPTER=02', 'FORMAT=xml'), qr/^2 \S+ there is no format 'xml': one of github gradescope table is needed/, '... and a format';

done_testing;
