package Submission;

# What students submit, as learning systems hand it out: a folder for each, with the
# chapters in it or in folders below; an archive (zip) for each; or the files of all in
# one folder, with the student's name in front of the chapter's.

use strict;
use warnings;
use utf8;
use Cwd qw(abs_path);
use File::Find qw(find);
use IO::Uncompress::Unzip qw($UnzipError);
use List::Util qw(uniq);
use Text;

our $LARGEST = 1_000_000; # bytes of a chapter that are read, and one more; the book's longest has a tenth
my $MOST = 200_000_000;  # bytes in an archive,
my $MOST_FILES = 20_000; # and files, there or in a folder
my $NUMBER = qr/(?:[ _-]*\(?\d+\)?)?/; # of another attempt, or of a browser that had one already
my $ENDING = qr/\.c(?:\.txt)?\z/i;     # and what Windows has put behind it
my $HIDDEN = qr{(?:^|/)(?:\.[^/]*|__MACOSX)(?:/|\z)}; # such as the book's own chapters, in .book
my $OTHER  = qr/\.(?:tar|tgz|tar\.\w+|tbz2?|txz|7z|rar|gz|xz|bz2)\z/i;
my $PACKED = qr/\.zip\z|$OTHER/i; # in an archive

# A file's name that is a chapter's: what stands in front of it, or nothing.
sub _in_front {
    my ($file, $chapter) = @_;
    return $file =~ /^(?:(.*)[\W_])?\Q$chapter\E$NUMBER$ENDING/is ? $1 // '' : undef;
}

# Whose file it is that stands in a folder for all: what its name has in front of a
# chapter's or of its ending, or nothing. Of two numbers at the end, Canvas gives the first
# to the student, and the second to the file.
sub _owner {
    my ($file, @chapters) = @_;
    for my $chapter (@chapters) {
        my $name = _in_front($file, $chapter);
        return $name =~ s/[ _-]+\z//r =~ s/(_\d{3,})_\d{3,}\z/$1/r if defined $name;
    }
    return $1 if $file =~ /^(.+?)(?:\.zip\z|$OTHER)/is || @chapters == 1 && $file =~ /^(.+?)$ENDING/is;
    return;
}

# All in a folder: name => paths. Names are bytes. And what is nobody's, as names.
# Dies with one line.
sub all {
    my ($dir, @chapters) = @_;
    opendir my $entries, $dir or die "$dir: $!: a folder with a folder for each student is needed\n";
    my @entries = sort grep { !/^\./ && $_ ne '__MACOSX' } readdir $entries;
    my (%of, @others);
    for my $entry (@entries) {
        my $path = "$dir/$entry";
        my $name = -l $path ? '' : -d $path ? $entry : -f _ ? _owner($entry, @chapters) // '' : '';
        if (length $name) { push @{$of{$name}}, $path }
        else              { push @others, $entry }
    }
    die "$dir has no submissions in it, but ", Text::line($others[0] // 'nothing'),
      ": a folder or an archive for each student is needed\n" if !%of;
    return (\%of, @others);
}

# ---- The chapters of one

# The files below a folder: no links, and nothing that is hidden.
sub _below {
    my ($folder) = @_;
    my @files;
    find({no_chdir => 1, follow => 0, wanted => sub {
        my $at = substr $_, length $folder;
        if (-l || $at =~ $HIDDEN) { $File::Find::prune = 1; return }
        push @files, $_ if -f _;
        die "it has more than $MOST_FILES files in it\n" if @files > $MOST_FILES;
    }}, $folder);
    return sort @files;
}

sub _text_of {
    my ($path) = @_;
    open my $file, '<:raw', $path or die Text::line("$path: $!"), "\n";
    read $file, my $text, $LARGEST + 1;
    return $text // '';
}

# Adds the C files in an archive to what others of the same student have had: {text (name =>
# text), bytes and files (how many), packed (archives in it)}. Nothing is written, wherever a name
# leads to.
sub _unpack {
    my ($path, $had) = @_;
    my $shown = Text::line($path =~ s{.*/}{}sr);
    my $zip = IO::Uncompress::Unzip->new($path, Transparent => 0, Strict => 1)
      or die "$shown is no zip archive that can be read here: unpack it first, into a folder of its own\n";
    do {
        my $name = $zip->getHeaderInfo->{Name} =~ tr{\\}{/}r;
        my $is_c = $name =~ $ENDING && $name !~ $HIDDEN;
        push @{$had->{packed}}, "$name in $shown" if $name =~ $PACKED && $name !~ $HIDDEN;
        my $text = '';
        while ((my $status = $zip->read(my $more)) != 0) {
            die "$shown cannot be unpacked: ", $UnzipError || 'it is damaged', "\n" if $status < 0;
            $text .= $more if $is_c && length $text <= $LARGEST;
            die "$shown has more than $MOST bytes in it\n" if ($had->{bytes} += length $more) > $MOST;
        }
        die "$shown has more than $MOST_FILES files in it\n" if ++$had->{files} > $MOST_FILES;
        die Text::line($name), " is in $shown, and was there before with other contents: one is needed\n"
          if $is_c && ($had->{text}{$name} //= $text) ne $text;
    } while ($zip->nextStream == 1);
}

# Which of these files is each chapter: name => path. One in a folder chapters/, or that is
# called so, or nearly; or the only one in C, where one is due. Who hands in the whole book
# has its tests, too, and what was built. Dies with one line where two that differ may be meant.
sub _chosen {
    my ($chapters, $read, @files) = @_;
    my %chosen;
    @files = grep { !m{(?:^|/)(?:tests|build)/} } @files;
    for my $chapter (@$chapters) {
        my @like = grep { defined _in_front(s{.*/}{}sr, $chapter) } @files;
        my ($these) = grep { @$_ } [grep { m{(?:^|/)chapters/\Q$chapter\E\.c\z}s } @like],
          [grep { m{(?:^|/)\Q$chapter\E\.c\z}s } @like], \@like;
        next if !$these;
        my ($beside) = $these->[0] =~ m{^(.*/)?}s; # another attempt, such as "... (2).c"
        my @meant = uniq @$these, grep { m{^\Q@{[$beside // '']}\E[^/]*\z}s } @like;
        die "$chapter.c is there more than once: ", Text::line(join ' and ', @meant), ": one is needed\n"
          if 1 < uniq map { $read->($_) } @meant;
        $chosen{$chapter} = $these->[0];
    }
    my @c = grep { /$ENDING/ } @files;
    $chosen{$chapters->[0]} = $c[0] if !%chosen && @$chapters == 1 && @c == 1;
    return %chosen;
}

# The chapters by name: each its text as bytes; of one that is too long as much as shows it.
# No link is followed. Dies with one line where a person has to look.
sub texts {
    my ($paths, @chapters) = @_;
    my ($folder) = map { abs_path($_) } grep { -d } @$paths; # which may have been given as a link, or with a /
    my %path = map { ($folder ? substr $_, 1 + length $folder : s{.*/}{}sr) => $_ } $folder ? _below($folder) : @$paths;
    my $read = sub { _text_of($path{$_[0]}) };
    my %chosen = _chosen(\@chapters, $read, sort keys %path);
    if (!%chosen) {
        my %had = (text => {});
        _unpack($path{$_}, \%had) for grep { /\.zip\z/i } sort keys %path;
        $read = sub { $had{text}{$_[0]} };
        %chosen = _chosen(\@chapters, $read, sort keys %{$had{text}});
        my ($archive) = (grep({ /$OTHER/ } sort keys %path), @{$had{packed} // []});
        die Text::line($archive), " is an archive: unpack it first, into a folder of its own\n"
          if defined $archive && !%chosen;
    }
    return map { $_ => $read->($chosen{$_}) } keys %chosen;
}

1;
