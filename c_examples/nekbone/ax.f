c     Nekbone's ax: w = A u on every element, with the matrix products of its mxm written out.
c     A driver's D and its transpose are dxm1 and dxtm1, of lx by lx; the work arrays are nekbone's.
      subroutine ax(w, u, gxyz, dxm1, dxtm1, nelt)
      integer lx, lxyz
      parameter (lx=10, lxyz=lx*lx*lx)
      integer nelt
      real*8 w(lx,lx,lx,nelt), u(lx,lx,lx,nelt)
      real*8 gxyz(6,lx,lx,lx,nelt), dxm1(lx,lx), dxtm1(lx,lx)
      real*8 ur(lx,lx,lx), us(lx,lx,lx), ut(lx,lx,lx)
      common /ctmp1/ ur, us, ut
      real*8 wr, ws, wt
      integer e, i, j, k, l
      do e = 1, nelt
c        local_grad3
         do k = 1, lx
         do j = 1, lx
         do i = 1, lx
            ur(i,j,k) = 0.0d0
            do l = 1, lx
               ur(i,j,k) = ur(i,j,k) + dxm1(i,l)*u(l,j,k,e)
            enddo
         enddo
         enddo
         enddo
         do k = 1, lx
         do j = 1, lx
         do i = 1, lx
            us(i,j,k) = 0.0d0
            do l = 1, lx
               us(i,j,k) = us(i,j,k) + u(i,l,k,e)*dxtm1(l,j)
            enddo
         enddo
         enddo
         enddo
         do k = 1, lx
         do j = 1, lx
         do i = 1, lx
            ut(i,j,k) = 0.0d0
            do l = 1, lx
               ut(i,j,k) = ut(i,j,k) + u(i,j,l,e)*dxtm1(l,k)
            enddo
         enddo
         enddo
         enddo
c        the geometric factors of each point
         do k = 1, lx
         do j = 1, lx
         do i = 1, lx
            wr = gxyz(1,i,j,k,e)*ur(i,j,k) + gxyz(2,i,j,k,e)*us(i,j,k)
     $         + gxyz(3,i,j,k,e)*ut(i,j,k)
            ws = gxyz(2,i,j,k,e)*ur(i,j,k) + gxyz(4,i,j,k,e)*us(i,j,k)
     $         + gxyz(5,i,j,k,e)*ut(i,j,k)
            wt = gxyz(3,i,j,k,e)*ur(i,j,k) + gxyz(5,i,j,k,e)*us(i,j,k)
     $         + gxyz(6,i,j,k,e)*ut(i,j,k)
            ur(i,j,k) = wr
            us(i,j,k) = ws
            ut(i,j,k) = wt
         enddo
         enddo
         enddo
c        local_grad3_t
         do k = 1, lx
         do j = 1, lx
         do i = 1, lx
            w(i,j,k,e) = 0.0d0
            do l = 1, lx
               w(i,j,k,e) = w(i,j,k,e) + dxtm1(i,l)*ur(l,j,k)
            enddo
         enddo
         enddo
         enddo
         do k = 1, lx
         do j = 1, lx
         do i = 1, lx
            do l = 1, lx
               w(i,j,k,e) = w(i,j,k,e) + us(i,l,k)*dxm1(l,j)
            enddo
         enddo
         enddo
         enddo
         do k = 1, lx
         do j = 1, lx
         do i = 1, lx
            do l = 1, lx
               w(i,j,k,e) = w(i,j,k,e) + ut(i,j,l)*dxm1(l,k)
            enddo
         enddo
         enddo
         enddo
      enddo
      return
      end
