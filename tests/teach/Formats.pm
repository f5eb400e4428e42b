package Formats;

# The forms of what a teacher's tools read: reports, what each says has been earned, and archives.

use strict;
use warnings;
use utf8;
use Encode qw(decode);
use File::Basename qw(dirname);
use File::Path qw(make_path);
use Exporter qw(import);
use IO::Uncompress::Unzip qw($UnzipError);
use JSON::PP;
use MIME::Base64 qw(decode_base64);

our @EXPORT_OK = qw(%FORM %EARNED faults fits read_json unpacked);

# An object has just these keys, and with a ? those that it may have.
our %FORM = (
    gradescope => {score => 'number', execution_time => 'number', output => 'string', output_format => 'text',
        visibility => 'visible', stdout_visibility => qr/^(?:visible|hidden|after_due_date|after_published)$/,
        tests => [{name => 'string', number => 'string', score => 'number', max_score => 'number',
            status => qr/^(?:passed|failed)$/, output => 'string', output_format => 'text', tags => ['string'],
            visibility => 'visible'}]},
    classroom50 => {schema => 'classroom50/result/v1', (map { $_ => 'string' } qw(classroom assignment submission commit
        release review)), datetime => qr/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, score => 'integer', 'max-score' => 'integer',
        tests => [{'test-name' => 'string', passed => 'boolean', score => 'integer', 'max-score' => 'integer'}]},
    actions => {version => 'integer', status => qr/^(?:pass|fail|error)$/, max_score => 'number', tests => [{name => 'string',
        status => qr/^(?:pass|fail|error)$/, score => 'number', message => 'string', test_code => 'string',
        filename => 'string', line_no => 'integer', duration => 'number'}]},
    prairielearn => {score => 'number', gradable => 'boolean', '?format_errors' => ['string'], message => 'string',
        output => 'string', tests => [{name => 'string', description => 'string', points => 'number',
            max_points => 'number', message => 'string', output => 'string'}]},
    check50 => {slug => 'string', version => qr/^\d+\.\d+\.\d+$/, results => [{name => 'string', description => 'string',
        passed => 'boolean or null', log => ['string'], cause => ['null', {rationale => 'string', help => 'string or null'}],
        data => {points => 'integer', earned => 'integer'}, dependency => 'string or null'}]},
    json => {name => 'string', '?is_open' => 'boolean', who => 'string or null', seconds => 'number', score => 'integer', max => 'integer',
        compiled => {map { ("?$_" => 'string or null') } qw(02 03)}, exercises => [{(map { $_ => 'string' } qw(id chapter
        function title message)), (map { $_ => 'string or null' } qw(waits_for diagnosis)), points => 'integer',
        earned => 'integer', state => qr/^(?:done|wrong|empty|waits|uncompiled|missing|refused)$/, tests => [{name => 'string',
            ok => 'boolean', told => {map { ("?$_" => 'string') } qw(given gave due wrong printed)}}]}]},
);

sub type_of {
    my ($value) = @_;
    return !defined $value ? 'null' : JSON::PP::is_bool($value) ? 'boolean' : ref $value eq 'HASH' ? 'object'
      : ref $value eq 'ARRAY'                                              ? 'list'
      : JSON::PP->new->allow_nonref->encode($value) =~ /^"/               ? 'string'
      : $value =~ /^-?\d+$/                                               ? 'integer' : 'number';
}

# What is wrong with a value at a place: of two forms in a list, either may be.
sub faults {
    my ($value, $form, $at) = @_;
    my $type = type_of($value);
    if (ref $form eq 'HASH') {
        return "$at is a $type, no object" if $type ne 'object';
        my %may = map { s/^\?//r => $form->{$_} } keys %$form;
        return ((map { "$at has no $_" } grep { !/^\?/ && !exists $value->{$_} } keys %$form),
            map { exists $may{$_} ? faults($value->{$_}, $may{$_}, "$at.$_") : "$at has a $_" } keys %$value);
    }
    if (ref $form eq 'ARRAY' && @$form == 1) {
        return "$at is a $type, no list" if $type ne 'list';
        return map { faults($value->[$_], $form->[0], "$at\[$_]") } 0 .. $#$value;
    }
    return $type eq 'null' ? () : faults($value, $form->[1], $at) if ref $form eq 'ARRAY';
    return "$at is a $type" if $type eq 'object' || $type eq 'list';
    return ($value // '') =~ $form ? () : "$at is '$value'" if ref $form;
    return if grep { $_ eq $type || $_ eq 'number' && $type eq 'integer' } split / or /, $form;
    return $form =~ /^(?:string|number|integer|boolean|null)/ || $type ne 'string' || $value ne $form
      ? "$at is the $type " . ($value // 'null') : ();
}

sub fits { my @faults = faults(@_, ''); return !@faults }

# What each exercise has earned, as the format tells it: points, and whether it passed.
our %EARNED = (
    gradescope   => sub { map { [$_->{score}, $_->{status} eq 'passed'] } @{$_[0]{tests}} },
    classroom50  => sub { map { [$_->{score}, $_->{passed}] } @{$_[0]{tests}} },
    actions      => sub { map { [$_->{score}, $_->{status} eq 'pass'] } @{$_[0]{tests}} },
    prairielearn => sub { map { [$_->{points}, $_->{points} == $_->{max_points}] } @{$_[0]{tests}} },
    check50      => sub { map { [$_->{data}{earned}, $_->{passed}] } @{$_[0]{results}} },
    json         => sub { map { [$_->{earned}, $_->{state} eq 'done'] } @{$_[0]{exercises}} },
);

sub read_json {
    my ($format, $text) = @_;
    if ($format eq 'actions') {
        $text =~ m{^[A-Za-z0-9+/]+=*\n\z} or die "not base64 in one line\n";
        $text = decode('UTF-8', decode_base64($text), Encode::FB_CROAK);
    }
    return JSON::PP->new->decode($text);
}

# Unpacks an archive as any program would, with what files may and their time, and
# returns what each may, by name.
sub unpacked {
    my ($archive, $into) = @_;
    my $zip = IO::Uncompress::Unzip->new($archive) or die "$archive: $UnzipError\n";
    my %mode;
    do {
        my $name = $zip->getHeaderInfo->{Name};
        die "$name stands twice\n" if exists $mode{$name};
        make_path(dirname("$into/$name"));
        open my $file, '>:raw', "$into/$name" or die "$into/$name: $!\n";
        local $/;
        print $file scalar(<$zip>) // '';
        close $file;
        utime(($zip->getHeaderInfo->{Time}) x 2, "$into/$name");
        $mode{$name} = '';
    } while ($zip->nextStream > 0);
    # Attributes stand in the directory at the end alone.
    open my $file, '<:raw', $archive or die "$archive: $!\n";
    my $bytes = do { local $/; <$file> };
    while ($bytes =~ /PK\x01\x02.{2}.{22}(.{2})(.{2})(.{2}).{4}(.{4}).{4}/sg) {
        my ($length, $attributes) = (unpack('v', $1), unpack 'V', $4);
        my $name = substr $bytes, pos $bytes, $length;
        next if !exists $mode{$name};
        $mode{$name} = sprintf '%o', $attributes >> 16;
        chmod $attributes >> 16 & 0777, "$into/$name";
    }
    return \%mode;
}

1;
